package rpc

import (
	"context"
	"io"

	"go.lsp.dev/jsonrpc2"
)

// stream is the jsonrpc2.Stream of a connection: what the library reads is a
// message that may be handled now, what it writes goes into the outbox. All
// that it would end the connection for is answered here.
type stream struct {
	*Conn
	frames *frames
}

// Read returns the next message that is to be handled. The library calls it on
// one goroutine at a time, the reader. When the connection ends it holds the
// library back until the handlers are done, because after that the library
// writes no answers.
func (s *stream) Read(context.Context) (jsonrpc2.Message, int64, error) {
	for s.base.Err() == nil {
		body, err := s.frames.next()
		var msg jsonrpc2.Message
		if err == nil {
			if msg, err = decode(body); err == errNotJSON {
				s.frames.broken(body)
			}
		}
		switch e := err.(type) {
		case nil:
			if s.admit(msg) {
				return msg, int64(len(body)), nil
			}
		case *fault:
			s.o.Log.Warn("bad message", "err", e, "bytes", len(body))
			s.refuse(jsonrpc2.ID{}, jsonrpc2.NewError(e.code, e.message))
		case *badResponse:
			if msg := s.badResponse(e); msg != nil {
				return msg, int64(len(body)), nil
			}
		default:
			s.end(err)
		}
	}
	<-s.settled
	return nil, 0, io.EOF
}

// admit reports whether the library is to handle msg. What it is not to handle
// has been dealt with.
func (s *stream) admit(msg jsonrpc2.Message) bool {
	switch m := msg.(type) {
	case *jsonrpc2.Call:
		if refused := s.begin(m); refused != nil {
			s.refuse(m.ID(), refused)
			return false
		}
	case *jsonrpc2.Notification:
		return s.notification(m)
	case *jsonrpc2.Response:
		return s.response(m.ID(), m.Err())
	}
	return true
}

func (s *stream) notification(m *jsonrpc2.Notification) bool {
	s.mu.Lock()
	phase := s.phase
	s.mu.Unlock()
	switch {
	case m.Method() == methodExit && s.o.Lifecycle:
		s.end(errExit)
	case m.Method() == methodCancel:
		s.cancelled([]byte(m.Params()))
	case !phase.notification(m.Method()):
		s.o.Log.Debug("notification dropped", "method", m.Method(), "phase", phase)
	default:
		return true
	}
	return false
}

// refuse answers with an error without handling anything.
func (s *stream) refuse(id jsonrpc2.ID, e *Error) {
	s.answer(message{body: jsonrpc2.AppendResponse(nil, id, nil, e)}, false)
}

// response reports whether a call of ours waits for this answer.
func (s *stream) response(id jsonrpc2.ID, failure error) bool {
	state, known := s.takeCall(id)
	switch {
	case !known:
		s.o.Log.Warn("answer to nothing that was asked, or a second one", "id", id, "err", failure)
	case state == callGivenUp:
		s.o.Log.Debug("late answer dropped", "id", id)
	}
	return known && state == callOpen
}

// takeCall returns what became of our call, which has its answer now.
func (s *stream) takeCall(id jsonrpc2.ID) (state callState, known bool) {
	n, isNumber := id.Number()
	if !isNumber {
		return 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	state, known = s.calls[n]
	delete(s.calls, n)
	return state, known
}

// badResponse deals with an answer that cannot be used: the call that waits for
// it fails, and the failure is for the library to handle. With neither result
// nor error it may as well have been meant as a request.
func (s *stream) badResponse(b *badResponse) jsonrpc2.Message {
	s.o.Log.Warn("bad answer", "id", b.id, "err", b)
	state, known := s.takeCall(b.id)
	switch {
	case known && state == callOpen:
		return jsonrpc2.NewResponse(b.id, nil, jsonrpc2.NewError(jsonrpc2.InvalidRequest, b.reason+" from the client"))
	case !known && b.bare:
		s.refuse(jsonrpc2.ID{}, jsonrpc2.NewError(jsonrpc2.InvalidRequest, "a message without method, result and error"))
	}
	return nil
}

// Write queues a message of the library: an answer, which never waits, or a
// call. The library says which only by the encoding.
func (s *stream) Write(ctx context.Context, msg jsonrpc2.Message) (int64, error) {
	body := jsonrpc2.AppendMessage(nil, msg)
	view, err := jsonrpc2.ScanMessageView(body)
	if err != nil {
		return 0, err
	}
	switch view.Kind {
	case jsonrpc2.MessageViewCall:
		n, _ := view.ID.Number()
		err = s.sendCall(ctx, n, body)
	case jsonrpc2.MessageViewNotification:
		err = s.out.send(ctx, s.base.Done(), message{body: body})
	default:
		id, _ := view.ID.ID()
		s.reply(id, body, view.Kind == jsonrpc2.MessageViewResponseError)
	}
	return int64(len(body)), err
}

// sendCall queues a call of ours; its answer may come before this returns.
func (s *stream) sendCall(ctx context.Context, n int64, body []byte) error {
	s.mu.Lock()
	s.calls[n] = callOpen
	s.mu.Unlock()
	err := s.out.send(ctx, s.base.Done(), message{body: body})
	if err != nil {
		s.mu.Lock()
		delete(s.calls, n)
		s.mu.Unlock()
	}
	return err
}

// Close is the library's; Run closes the streams when the outbox is empty.
func (s *stream) Close() error { return nil }

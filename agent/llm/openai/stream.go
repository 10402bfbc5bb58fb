package openai

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/agentls/agentls/agent/llm"
)

// stream reads one answer and yields what is in it.
type stream struct {
	*exchange
	yield  func(llm.Delta, error) bool
	answer *answer
	done   bool // [DONE] was there

	shown   bool
	refusal *serverError
}

func newStream(x *exchange, r llm.Request, q quirks, yield func(llm.Delta, error) bool) *stream {
	return &stream{exchange: x, yield: yield, answer: newAnswer(r, q)}
}

// run yields an answer up to Completed, or returns why there is none.
func (s *stream) run() error {
	events := newSSEReader(s.res.Body)
	first, err := events.peek()
	switch {
	case err != nil:
		return s.brokenOff(err)
	case first == '<':
		return s.refused(events)
	case first == '{' || first == '[':
		err = s.plain(events)
	default:
		err = s.events(events)
	}
	if err != nil {
		return err
	}
	if failedFinish[s.answer.finish] {
		return s.failedInStream([]byte(fmt.Sprintf(`{"error":"the answer ended with %s"}`, s.answer.finish)))
	}
	completed := s.answer.complete()
	if err := s.drain(); err != nil {
		return err
	}
	if !s.yield(completed, nil) {
		return errStopped
	}
	return nil
}

// events reads a stream to its end. A break after the model was done is no
// loss.
func (s *stream) events(r *sseReader) error {
	for {
		e, err := r.next()
		if err != nil {
			if s.answer.finish != "" || s.done {
				return nil
			}
			return s.brokenOff(err)
		}
		if err := s.event(e); err != nil {
			return err
		}
		if s.done {
			linger(s.res, s.watch)
			return nil
		}
		if s.answer.finish != "" {
			s.watch.lower(afterFinish)
		}
	}
}

func (s *stream) event(e event) error {
	data := bytes.TrimSpace(e.data)
	switch {
	case e.name == "error":
		return s.failedInStream(data)
	case len(data) == 0 || data[0] == ':':
		return nil
	case string(data) == "[DONE]":
		s.done = true
		return nil
	}
	if err := s.answer.object(e); err != nil {
		if e.last {
			return nil // cut in the middle: its end is missing, which comes next
		}
		return &llm.Error{Class: llm.StreamCut, Retryable: true, Err: err,
			Message: fmt.Sprintf("%s sent something that is not JSON in its stream: try again (%s)", s.host(), s.scrub(oneLine(err.Error())))}
	}
	if s.answer.failure != nil {
		return s.failedInStream(s.answer.failure)
	}
	if s.answer.size() > maxAnswer {
		return &llm.Error{Class: llm.Internal, Message: fmt.Sprintf("the answer of %s is larger than %d MiB: it was given up", s.host(), maxAnswer>>20)}
	}
	return s.drain()
}

// drain yields the deltas that the answer has collected.
func (s *stream) drain() error {
	for _, d := range s.answer.out {
		s.shown = true
		if !s.yield(d, nil) {
			return errStopped
		}
	}
	s.answer.out = s.answer.out[:0]
	return nil
}

// plain takes an answer that came in one piece, or the error in its place.
func (s *stream) plain(r *sseReader) error {
	body, err := s.answer.plain(r.rest())
	var not *notJSON
	switch {
	case errors.As(err, &not) && s.answer.finish == "":
		return s.failedInStream(body)
	case err != nil && s.answer.finish == "":
		return s.brokenOff(err)
	case s.answer.failure != nil || !s.answer.hasChoice:
		return s.failedInStream(body)
	}
	return s.drain()
}

// refused is an answer that is a page or the like.
func (s *stream) refused(r *sseReader) error {
	body, _ := io.ReadAll(io.LimitReader(r.rest(), maxErrorBody))
	e := readServerError(s.res.StatusCode, s.res.Header, body)
	return &llm.Error{Class: llm.BadRequest, Status: s.res.StatusCode, Message: fmt.Sprintf(
		"there is no Chat Completions API at %s, it answers with a web page: check baseURL, it usually ends in /v1%s", s.display(), s.said(e))}
}

// failedInStream is an error that a server reports inside an answer.
func (s *stream) failedInStream(body []byte) error {
	if err := s.drain(); err != nil {
		return err
	}
	e := readServerError(0, s.res.Header, body)
	s.refusal = &e
	return s.failed(e)
}

// brokenOff is a stream that ended without an end.
func (s *stream) brokenOff(err error) error {
	s.answer.flush()
	if stop := s.drain(); stop != nil {
		return stop
	}
	if !errors.Is(err, io.EOF) {
		return s.networkError(err)
	}
	what := "ended its answer in the middle"
	if !s.shown {
		what = "ended its answer before it began"
	}
	return &llm.Error{Class: llm.StreamCut, Retryable: true, Err: io.ErrUnexpectedEOF, Message: s.host() + " " + what + ": try again"}
}

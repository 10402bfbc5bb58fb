package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agent/llm"
)

// pieces reads at most a few bytes at a time.
type pieces struct {
	r   io.Reader
	rng *rand.Rand
	max int
}

func (p *pieces) Read(b []byte) (int, error) {
	return p.r.Read(b[:min(len(b), 1+p.rng.IntN(p.max))])
}

// result is what a stream comes to, without what differs each time.
type result struct {
	Text, Thoughts string
	Calls          []string
	Stop           llm.StopReason
	Usage          string
	Notices        int
	Err            string
}

// exchangeOf is a response with a body that came by no network.
func exchangeOf(t testing.TB, c *Client, body io.Reader) *exchange {
	w := newWatch(time.Hour, func() {})
	t.Cleanup(w.stop)
	return &exchange{Client: c, parent: context.Background(), ctx: context.Background(), watch: w,
		res: &http.Response{StatusCode: 200, ProtoMajor: 2, Header: http.Header{}, Body: io.NopCloser(body)}}
}

// read runs a body through the adapter without HTTP, and holds it to what is
// true of every stream.
func read(t testing.TB, c *Client, body io.Reader) result {
	t.Helper()
	x := exchangeOf(t, c, body)
	var a answered
	r := llm.Request{Model: "m", Messages: thinking(), Tools: offered}
	err := newStream(x, r, quirksOf("custom"), func(d llm.Delta, err error) bool {
		switch d := d.(type) {
		case llm.TextDelta:
			a.text += d.Text
		case llm.ThoughtDelta:
			a.thoughts += d.Text
		case llm.ToolUseDelta:
			a.announced = append(a.announced, d)
		case llm.Notice:
			a.notices = append(a.notices, d)
		case llm.Completed:
			a.completed = &d
		}
		return true
	}).run()
	if (err == nil) != (a.completed != nil) {
		t.Fatalf("completed %+v, error %v", a.completed, err)
	}
	res := result{Text: a.text, Thoughts: a.thoughts, Notices: len(a.notices)}
	if !utf8.ValidString(a.text) || !utf8.ValidString(a.thoughts) {
		t.Fatalf("not UTF-8: %q, %q", a.text, a.thoughts)
	}
	if err != nil {
		res.Err = err.Error()
		return res
	}
	checkSound(t, a)
	res.Stop, res.Usage = a.completed.Stop, usageText(a.completed.Usage)
	for _, u := range a.calls() {
		res.Calls = append(res.Calls, fmt.Sprintf("%q %s %q", u.Name, u.Input, u.Malformed))
	}
	return res
}

// checkSound holds an answer to what every answer has to be, whatever a server
// sent.
func checkSound(t testing.TB, a answered) {
	t.Helper()
	text, thoughts := "", ""
	ids := map[string]bool{"call_1": true} // of the history
	for _, p := range a.completed.Message.Parts {
		switch p := p.(type) {
		case llm.Text:
			text += p.Text
		case llm.Thought:
			thoughts += p.Text
		case llm.ToolUse:
			var object map[string]any
			if err := json.Unmarshal(p.Input, &object); err != nil || object == nil {
				t.Fatalf("the input %q is no object: %v", p.Input, err)
			}
			if ids[p.ID] || !isSafeID(p.ID) || p.Name == "" {
				t.Fatalf("the call %+v", p)
			}
			ids[p.ID] = true
		}
	}
	if text != a.text || thoughts != a.thoughts {
		t.Fatalf("the message says %q, %q, the deltas %q, %q", text, thoughts, a.text, a.thoughts)
	}
	for _, d := range a.announced {
		if !ids[d.ID] {
			t.Fatalf("%+v was announced and is not in the message", d)
		}
	}
}

// FuzzSplit: how bytes arrive changes nothing, whatever they are.
func FuzzSplit(f *testing.F) {
	for _, c := range append(callCases, textCases...) {
		f.Add([]byte(c.body), uint64(1))
	}
	for _, body := range frames {
		f.Add([]byte(body), uint64(2))
	}
	c := newClientTo(f, Options{Provider: "custom", BaseURL: "http://localhost:1"})
	f.Fuzz(func(t *testing.T, body []byte, seed uint64) {
		whole := read(t, c, bytes.NewReader(body))
		rng := rand.New(rand.NewPCG(seed, 0))
		for name, r := range map[string]io.Reader{
			"one byte":     iotest.OneByteReader(bytes.NewReader(body)),
			"data and EOF": iotest.DataErrReader(bytes.NewReader(body)),
			"a few bytes":  &pieces{bytes.NewReader(body), rng, 50},
		} {
			if diff := cmp.Diff(whole, read(t, c, r)); diff != "" {
				t.Fatalf("by %s (-whole +split):\n%s", name, diff)
			}
		}
	})
}

// writer writes a message as a stream in one of the many ways of servers.
type writer struct {
	rng *rand.Rand
	b   strings.Builder
}

func (w *writer) chance(n int) bool { return w.rng.IntN(n) == 0 }

// split cuts text anywhere, also within surrogate pairs.
func (w *writer) split(s string) []string {
	units := utf16.Encode([]rune(s))
	var parts []string
	for len(units) > 0 {
		n := min(1+w.rng.IntN(8), len(units))
		parts = append(parts, jsonUnits(units[:n], w.rng))
		units = units[n:]
	}
	return parts
}

// jsonUnits writes UTF-16 units as a JSON string, escaped as it comes.
func jsonUnits(units []uint16, rng *rand.Rand) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(units); i++ {
		u := rune(units[i])
		switch {
		case isHigh(u) && i+1 < len(units) && rng.IntN(2) == 0:
			b.WriteRune(pair(u, rune(units[i+1])))
			i++
		case utf16.IsSurrogate(u), u < ' ', u == '"', u == '\\', rng.IntN(20) == 0:
			fmt.Fprintf(&b, "\\u%04x", u)
		default:
			b.WriteRune(u)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func (w *writer) event(data string) {
	eol := [...]string{"\n", "\r\n", "\r"}[w.rng.IntN(3)]
	if w.chance(8) {
		w.b.WriteString(": keep-alive" + eol)
	}
	if w.chance(20) {
		w.b.WriteString(eol + "event: ping" + eol + "data: {}" + eol + eol)
	}
	space := " "
	if w.chance(4) {
		space = ""
	}
	if i := strings.Index(data, `,"x":`); i > 0 && w.chance(2) {
		data = data[:i] + eol + "data:" + space + data[i:]
	}
	w.b.WriteString("data:" + space + data + eol + eol)
}

// choice makes a chunk; the unknown field in it is where an event may be
// broken into lines.
func (w *writer) choice(delta, finish string) string {
	return `{"id":"c","choices":[{"index":0,"delta":` + delta + `,"x":[{"y":"}"}],"finish_reason":` + finish + `}]}`
}

type wantedCall struct{ name, args string }

// calls writes calls one after the other or interleaved, with the index, the
// id and the name as some server or other would.
func (w *writer) calls(calls []wantedCall) {
	type piece struct {
		call int
		data string
	}
	sameIndex, noIndex, repeatID, repeatName, emptyFields := w.chance(4), w.chance(6), w.chance(3), w.chance(3), w.chance(3)
	interleave := !sameIndex && !noIndex && w.chance(2)
	queues := make([][]piece, len(calls))
	for i, c := range calls {
		id := fmt.Sprintf("id_%d", i)
		parts := w.split(c.args)
		for n, part := range append([]string{`""`}, parts...) {
			fields := []string{}
			if !noIndex {
				index := i
				if sameIndex {
					index = 0
				}
				fields = append(fields, fmt.Sprintf(`"index":%d`, index))
			}
			name := ""
			if n == 0 || repeatID {
				fields = append(fields, fmt.Sprintf(`"id":%q`, id))
			} else if emptyFields {
				fields = append(fields, `"id":""`)
			}
			if n == 0 || repeatName {
				name = fmt.Sprintf(`"name":%q,`, c.name)
			} else if emptyFields {
				name = `"name":null,`
			}
			fields = append(fields, `"function":{`+name+`"arguments":`+part+`}`)
			queues[i] = append(queues[i], piece{i, strings.Join(fields, ",")})
		}
	}
	for i := 0; i < len(queues); {
		q := i
		if interleave {
			q = i + w.rng.IntN(len(queues)-i)
		}
		if len(queues[q]) > 0 {
			w.event(w.choice(`{"tool_calls":[{`+queues[q][0].data+`}]}`, "null"))
			queues[q] = queues[q][1:]
		}
		for i < len(queues) && len(queues[i]) == 0 {
			i++
		}
	}
}

// FuzzAnswer: a good message is the same in every way of writing it down.
func FuzzAnswer(f *testing.F) {
	f.Add("Looking 😀 at <think> it.", "a file", "é.go", 2, uint64(1))
	f.Add("", "", "", 1, uint64(2))
	f.Add("x", "", `{"path":"\ud83d"}`, 3, uint64(3))
	f.Add("data: [DONE]\n\n", "event: error", "}{", 4, uint64(4))
	c := newClientTo(f, Options{Provider: "custom", BaseURL: "http://localhost:1"})
	f.Fuzz(func(t *testing.T, text, thoughts, arg string, calls int, seed uint64) {
		text, thoughts, arg = strings.ToValidUTF8(text, "?"), strings.ToValidUTF8(thoughts, "?"), strings.ToValidUTF8(arg, "?")
		if strings.HasPrefix(strings.TrimSpace(text), "<") {
			return // may be markup of thoughts
		}
		rng := rand.New(rand.NewPCG(seed, 0))
		w := &writer{rng: rng}
		if w.chance(2) {
			w.b.WriteString("\ufeff")
		}
		for _, p := range w.split(thoughts) {
			w.event(w.choice(`{"reasoning_content":`+p+`}`, "null"))
		}
		for _, p := range w.split(text) {
			w.event(w.choice(`{"content":`+p+`}`, "null"))
		}
		want := result{Text: text, Thoughts: thoughts, Stop: llm.StopEnd, Usage: "in=9 out=3"}
		var wanted []wantedCall
		for i := range min(max(calls, 0), 6) {
			args, err := json.Marshal(map[string]any{"path": arg, "n": i, "deep": map[string]any{"a": []string{arg, "}"}}})
			if err != nil {
				t.Fatal(err)
			}
			wanted = append(wanted, wantedCall{offered[i%len(offered)].Name, string(args)})
			want.Calls = append(want.Calls, fmt.Sprintf("%q %s %q", offered[i%len(offered)].Name, args, ""))
		}
		w.calls(wanted)
		w.event(w.choice("{}", `"stop"`))
		w.event(`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3}}`)
		if w.chance(2) {
			w.event(done)
		}
		if len(want.Calls) == 0 && callAsText.MatchString(text) {
			want.Notices = 1
		}
		got := read(t, c, &pieces{strings.NewReader(w.b.String()), rng, 1 + rng.IntN(200)})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s\nof %.3000q", diff, w.b.String())
		}
	})
}

// FuzzScanner: what is JSON for encoding/json is for the scanner, and says the
// same.
func FuzzScanner(f *testing.F) {
	for _, c := range append(callCases, textCases...) {
		for event := range strings.SplitSeq(c.body, "\n\n") {
			f.Add([]byte(strings.TrimPrefix(event, "data: ")))
		}
	}
	f.Add([]byte(`"\u00e9\n\"\\\/ 😀 \ud83d\ude00"`))
	f.Add([]byte(`[1,-2.5e3,true,false,null,{},[],{"a":{"b":[]}}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := scanner{data: data}
		s.skip()
		whole := !s.bad && s.peek() == 0
		if json.Valid(data) && !whole && !tooDeep(data) {
			t.Fatalf("%q is not taken", data)
		}
		var want string
		if json.Unmarshal(data, &want) == nil && bytes.HasPrefix(bytes.TrimSpace(data), []byte(`"`)) {
			s = scanner{data: data}
			var j joiner
			got := j.push(s.text())
			got += j.flush()
			if got != want && strings.ToValidUTF8(want, "") == want && !strings.ContainsRune(want, utf8.RuneError) {
				t.Fatalf("%q is %q, not %q", data, got, want)
			}
		}
	})
}

func tooDeep(data []byte) bool {
	depth := bytes.Count(data, []byte("[")) + bytes.Count(data, []byte("{"))
	return depth > maxDepth
}

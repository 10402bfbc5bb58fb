package review

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// An editor that changes what it applies, and tells of both at once.
func TestReformatted(t *testing.T) {
	for _, tt := range []struct {
		name, before, proposed, text string
		want                         string
	}{
		{"new file with the editor's line ends", "", "a\nb\n", "a\r\nb\r\n", "applied"},
		{"new file with a last line end", "", "a\nb", "a\nb\n", "applied"},
		{"last line end added", "a\nb", "a\nc", "a\nc\n", "applied"},
		{"space at line ends cut off", "a\nb\n", "a\nc  \nd\n", "a\nc\nd\n", "applied"},
		{"indented with tabs", "func a() {\n}\n", "func a() {\n    x()\n    y()\n}\n", "func a() {\n\tx()\n\ty()\n}\n", "applied"},
		{"all line ends changed", "a\nb\nc\n", "a\nx\nc\n", "a\r\nx\r\nc\r\n", "applied"},
		{"another word", "a\nb\nc\n", "a\nx\nc\n", "a\ny\nc\n", "conflicted"},
		{"an edit of white space alone, not made", "a\n  b\nc\n", "a\n\tb\nc\n", "a\n  b\nc\n", "notApplied"},
		{"an edit of white space alone, other line ends", "a\n  b\nc\n", "a\n\tb\nc\n", "a\r\n\tb\r\nc\r\n", "applied"},
	} {
		for _, closed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, closed %v", tt.name, closed), func(t *testing.T) {
				t.Parallel()
				files := map[string]string{}
				if tt.before != "" {
					files["f"] = tt.before
				}
				d := newDesk(t, everything, files)
				if tt.before != "" && !closed {
					d.open("f", 1)
				}
				d.propose("f", tt.proposed)
				d.answer = func(context.Context, applyEditParams) (any, error) {
					switch {
					case closed:
						d.write("f", tt.text)
					case tt.before == "":
						d.write("f", "")
						d.open("f", 1)
						d.typeAll("f", tt.text)
					default:
						d.typeAll("f", tt.text)
					}
					return applyEditResult{Applied: true}, nil
				}
				state, _, _ := strings.Cut(d.accept(t.Context()), " ")
				want(t, "result", state, tt.want)
				want(t, "text", d.text("f"), tt.text)
				if tt.want == "applied" {
					want(t, "proposal", d.pending(), "")
				}
			})
		}
	}
}

package prompt

import (
	_ "embed"
	"fmt"
	"strings"
	"unicode/utf8"
)

//go:embed system.md
var system string

// Environment is what the system prompt says about where the agent works. It
// is the same all through a session.
type Environment struct {
	// OS is runtime.GOOS.
	OS string
	// Folders are the names of the workspace's folders.
	Folders []string
}

// System is the system prompt.
func System(e Environment) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(system))
	b.WriteString("\n\n# Where you are\n\n")
	if e.OS != "" {
		fmt.Fprintf(&b, "- Operating system: %s.\n", e.OS)
	}
	switch len(e.Folders) {
	case 0:
		b.WriteString("- No folder is open: there are only the files that the editor holds.\n")
	case 1:
		fmt.Fprintf(&b, "- The workspace is one folder, named %s.\n", line(e.Folders[0]))
	default:
		b.WriteString("- The workspace has several folders; paths begin with the folder's name: ")
		for i, f := range e.Folders {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(line(f) + "/")
		}
		b.WriteString(".\n")
	}
	return b.String()
}

// Fence puts text that comes from a file between marks. The marks are longer
// than any run of backticks in it, so that the text cannot end them.
func Fence(text string) string {
	longest, run := 0, 0
	for _, c := range []byte(text) {
		if c == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	mark := strings.Repeat("`", max(3, longest+1))
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return mark + "\n" + text + mark + "\n"
}

// line makes one printable line of a name that comes from outside.
func line(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// cut bounds a text to n bytes on a rune boundary; note says that it was cut.
func cut(s string, n int) (text, note string) {
	if len(s) <= n {
		return s, ""
	}
	end := n
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end], fmt.Sprintf("(cut: the first %d of %d bytes)", end, len(s))
}

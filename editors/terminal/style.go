package terminal

// style colours text where the terminal has colours. The text must be safe
// already.
type style bool

const reset = "\x1b[0m"

func (s style) in(code, text string) string {
	if !s || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + reset
}

func (s style) bold(text string) string   { return s.in("1", text) }
func (s style) dim(text string) string    { return s.in("2", text) }
func (s style) red(text string) string    { return s.in("31", text) }
func (s style) green(text string) string  { return s.in("32", text) }
func (s style) yellow(text string) string { return s.in("33", text) }
func (s style) cyan(text string) string   { return s.in("36", text) }

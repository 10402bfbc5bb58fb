package agent

import (
	"strconv"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

// appendString appends s as a JSON string. Bytes that are not UTF-8 become
// U+FFFD, so that no line of a session and no frame ever holds any.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	plain := 0 // where the run of bytes begins that go as they are
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' {
				i++
				continue
			}
			dst = append(dst, s[plain:i]...)
			dst = appendEscape(dst, c)
			i++
			plain = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(dst, s[plain:i]...)
			dst = append(dst, "\ufffd"...)
			i++
			plain = i
			continue
		}
		i += size
	}
	dst = append(dst, s[plain:]...)
	return append(dst, '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

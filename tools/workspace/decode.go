package workspace

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// Encoding is how the bytes of a file make text, as far as it can be told.
type Encoding string

// The encodings. Only UTF8 is text that can be edited; a guess is good enough
// to show a file to a reader, never to write it back.
const (
	UTF8        Encoding = "UTF-8"
	UTF16LE     Encoding = "UTF-16 LE"
	UTF16BE     Encoding = "UTF-16 BE"
	UTF32LE     Encoding = "UTF-32 LE"
	UTF32BE     Encoding = "UTF-32 BE"
	LikeUTF16LE Encoding = "probably UTF-16 LE"
	LikeUTF16BE Encoding = "probably UTF-16 BE"
	LikeGBK     Encoding = "probably GBK"
	LikeSJIS    Encoding = "probably Shift-JIS"
	LikeEUCJP   Encoding = "probably EUC-JP"
	LikeEUCKR   Encoding = "probably EUC-KR"
	LikeLatin   Encoding = "probably Latin-1 or Windows-1252"
	Unknown     Encoding = "unknown encoding"
	Binary      Encoding = "binary"
)

var decoders = map[Encoding]encoding.Encoding{
	UTF16LE:     unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
	UTF16BE:     unicode.UTF16(unicode.BigEndian, unicode.UseBOM),
	UTF32LE:     utf32.UTF32(utf32.LittleEndian, utf32.UseBOM),
	UTF32BE:     utf32.UTF32(utf32.BigEndian, utf32.UseBOM),
	LikeUTF16LE: unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
	LikeUTF16BE: unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
	LikeGBK:     simplifiedchinese.GBK,
	LikeSJIS:    japanese.ShiftJIS,
	LikeEUCJP:   japanese.EUCJP,
	LikeEUCKR:   korean.EUCKR,
	LikeLatin:   charmap.Windows1252,
}

// The byte order marks; UTF-32 LE begins like UTF-16 LE and comes first.
var marks = []struct {
	mark string
	enc  Encoding
}{
	{"\xEF\xBB\xBF", UTF8},
	{"\xFF\xFE\x00\x00", UTF32LE},
	{"\x00\x00\xFE\xFF", UTF32BE},
	{"\xFF\xFE", UTF16LE},
	{"\xFE\xFF", UTF16BE},
}

const bom = "\xEF\xBB\xBF"

// Detect names the encoding of a file by its bytes, or by its first ones:
// whole says which. UTF8 is certain only of the bytes seen.
func Detect(b []byte, whole bool) Encoding {
	for _, m := range marks {
		if bytes.HasPrefix(b, []byte(m.mark)) && m.enc != UTF8 {
			return m.enc
		}
	}
	if !whole {
		b = b[:len(b)-cutRune(b)]
	}
	if bytes.IndexByte(b, 0) >= 0 {
		return likeUTF16(b)
	}
	if utf8.Valid(b) {
		return UTF8
	}
	return guess(b)
}

// cutRune is how many bytes at the end begin a character that goes on after.
func cutRune(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// likeUTF16 tells UTF-16 without a mark from binary: mostly Latin text has its
// zeros at every other byte.
func likeUTF16(b []byte) Encoding {
	if len(b) < 4 {
		return Binary
	}
	var zeros [2]int
	for i, c := range b {
		if c == 0 {
			zeros[i%2]++
		}
	}
	half := len(b) / 2
	enc := Binary
	switch {
	case zeros[1] > half*7/10 && zeros[0] == 0:
		enc = LikeUTF16LE
	case zeros[0] > half*7/10 && zeros[1] == 0:
		enc = LikeUTF16BE
	default:
		return Binary
	}
	text, err := decoders[enc].NewDecoder().Bytes(b)
	if err != nil || bytes.ContainsRune(text, utf8.RuneError) || controls(text) > 0 {
		return Binary
	}
	return enc
}

// controls counts the characters that text does not have.
func controls(b []byte) int {
	n := 0
	for _, c := range b {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1B || c == 0x7F {
			n++
		}
	}
	return n
}

// guess names a legacy encoding of bytes that are no UTF-8 and have no NUL.
func guess(b []byte) Encoding {
	const enough = 64 << 10
	b = b[:min(len(b), enough)]
	if controls(b) > len(b)/100 {
		return Binary
	}
	p := survey(b)
	switch {
	case p.high == p.single:
		// Letters with accents stand alone among others.
		return LikeLatin
	case p.sjisKana > 0 && p.sjisKana*4 >= p.high/2 && decodes(b, LikeSJIS):
		return LikeSJIS
	case p.eucKana*3 > p.pairs && decodes(b, LikeEUCJP):
		return LikeEUCJP
	case p.hangul == p.pairs && p.pairs >= 8 && decodes(b, LikeEUCKR):
		return LikeEUCKR
	case p.single*4 <= p.high && decodes(b, LikeGBK):
		return LikeGBK
	case p.single*4 <= p.high && decodes(b, LikeSJIS):
		return LikeSJIS
	case controls(b) == 0 && (p.single*2 > p.high || p.high*4 < len(b)):
		return LikeLatin
	}
	return Unknown
}

// pairs counts how the bytes above ASCII stand together.
type pairCount struct {
	high     int // all of them
	single   int // without a neighbour
	pairs    int // pairs in the rows of EUC
	hangul   int // of those, in the rows where EUC-KR has its syllables
	eucKana  int // of those, where EUC-JP has hiragana and katakana
	sjisKana int // pairs where Shift-JIS has them
}

func survey(b []byte) pairCount {
	var p pairCount
	for i := 0; i < len(b); {
		if b[i] < 0x80 {
			i++
			continue
		}
		end := i
		for end < len(b) && b[end] >= 0x80 {
			end++
		}
		p.high += end - i
		if end-i == 1 {
			p.single++
		}
		for j := i; j+1 < end; j += 2 {
			lead, trail := b[j], b[j+1]
			if lead < 0xA1 || trail < 0xA1 {
				continue
			}
			p.pairs++
			if lead >= 0xB0 && lead <= 0xC8 {
				p.hangul++
			}
			if lead == 0xA4 || lead == 0xA5 {
				p.eucKana++
			}
		}
		i = end
	}
	for i := 0; i+1 < len(b); i++ {
		if b[i] == 0x82 && b[i+1] >= 0x9F && b[i+1] <= 0xF1 || b[i] == 0x83 && b[i+1] >= 0x40 && b[i+1] <= 0x96 {
			p.sjisKana++
			i++
		}
	}
	return p
}

func decodes(b []byte, enc Encoding) bool {
	if n := len(b); n > 1 && b[n-1] >= 0x80 {
		b = b[:n-1] // the sample may end inside a character
	}
	text, err := decoders[enc].NewDecoder().Bytes(b)
	return err == nil && !bytes.ContainsRune(text, utf8.RuneError)
}

// Decode makes readable text of bytes in an encoding that Detect named, for
// showing only. What does not decode is shown as `\xE9`; the result has no
// NUL and no byte order mark, and is valid UTF-8. Binary gives no text.
func Decode(b []byte, enc Encoding) string {
	if enc == Binary {
		return ""
	}
	if d, ok := decoders[enc]; ok {
		if text, err := d.NewDecoder().Bytes(b); err == nil {
			b = text
		}
	}
	return Readable(strings.TrimPrefix(string(b), bom))
}

// Readable shows the bytes that are no UTF-8, and NULs, as escapes.
func Readable(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || r == 0 {
			fmt.Fprintf(&b, `\x%02X`, s[i])
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

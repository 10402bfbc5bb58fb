package baseurl

import (
	"strings"
	"testing"
)

// C094: every form that people paste.
func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		"http://h:1":                                   "http://h:1/v1",
		"http://h:1/":                                  "http://h:1/v1",
		"http://h:1//":                                 "http://h:1/v1",
		"http://h:1/v1":                                "http://h:1/v1",
		"http://h:1/v1/":                               "http://h:1/v1",
		"http://h:1//v1//":                             "http://h:1/v1",
		"http://h:1/v1/v1":                             "http://h:1/v1",
		"http://h:1/compatible-mode/v1":                "http://h:1/compatible-mode/v1",
		"http://h:1/v1/chat/completions":               "http://h:1/v1",
		"http://h:1/v1/chat/completions/":              "http://h:1/v1",
		"http://h:1/chat/completions":                  "http://h:1/v1",
		"http://h:1/v1/models":                         "http://h:1/v1",
		"http://h:1/v1?api-version=2024-10-21":         "http://h:1/v1?api-version=2024-10-21",
		"https://h/openai/deployments/x?api-version=1": "https://h/openai/deployments/x?api-version=1",
		"https://open.bigmodel.cn/api/paas/v4/":        "https://open.bigmodel.cn/api/paas/v4",
		"h:1":                                          "http://h:1/v1",
		"api.example.com":                              "https://api.example.com/v1",
		"api.example.com:8443/v1":                      "https://api.example.com:8443/v1",
		"localhost:11434":                              "http://localhost:11434/v1",
		"127.0.0.1:8080/v1":                            "http://127.0.0.1:8080/v1",
		"192.168.1.5:8080":                             "http://192.168.1.5:8080/v1",
		"//api.example.com/v1":                         "https://api.example.com/v1",
		"http://[::1]:1":                               "http://[::1]:1/v1",
		"[::1]:8080/v1":                                "http://[::1]:8080/v1",
		"[2001:db8::1]:443/v1":                         "https://[2001:db8::1]:443/v1",
		"HTTPS://API.Example.com/V1":                   "https://api.example.com/V1",
		"  https://h/v1\n":                             "https://h/v1",
		`"https://h/v1"`:                               "https://h/v1",
		"http://h:1/v1#top":                            "http://h:1/v1",
	} {
		u, err := Parse(in)
		if err != nil {
			t.Errorf("Parse(%q): %v", in, err)
		} else if u.String() != want {
			t.Errorf("Parse(%q) = %s, want %s", in, u, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for in, says := range map[string]string{
		"":                          "empty",
		"   ":                       "empty",
		"::1:8080":                  "brackets",
		"http://::1/v1":             "brackets",
		"ftp://h/v1":                "http or https",
		"http://":                   "no host",
		"http:///v1":                "no host",
		"https://h:port/v1":         "is not one",
		"http://me:hunter2@h:x/v1":  "is not one",
		"http://me:hunter2@ ho st/": "is not one",
	} {
		u, err := Parse(in)
		if err == nil {
			t.Errorf("Parse(%q) = %s, want an error that says %q", in, u, says)
		} else if !strings.Contains(err.Error(), says) {
			t.Errorf("Parse(%q): %v, want %q in it", in, err, says)
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Parse(%q) repeats the password: %v", in, err)
		}
	}
}

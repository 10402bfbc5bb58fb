package workspace

import (
	"path/filepath"
	"slices"
	"strings"
)

// Names of files that usually hold secrets, in lower case. A search leaves
// them out unless one is named; ignore rules often miss them.
var (
	secretNames    = []string{".env", ".envrc", ".netrc", "_netrc", ".pgpass", ".git-credentials", ".htpasswd", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "credentials.json"}
	secretPrefixes = []string{".env."}
	secretSuffixes = []string{".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk"}
	// What looks like one but is made to be shared.
	sharedSuffixes = []string{".example", ".sample", ".template", ".dist", ".defaults"}
)

// Secret says whether a file, by its name, usually holds secrets.
func Secret(path string) bool {
	name := strings.ToLower(filepath.Base(path))
	has := func(fits func(s, part string) bool, parts []string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return fits(name, part) })
	}
	if has(strings.HasSuffix, sharedSuffixes) {
		return false
	}
	return slices.Contains(secretNames, name) || has(strings.HasPrefix, secretPrefixes) || has(strings.HasSuffix, secretSuffixes)
}

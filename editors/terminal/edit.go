package terminal

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// editText lets the user change a text in the editor that $VISUAL or $EDITOR
// names. The name's ending tells the editor what language it is.
func editText(c *Console, name, text string) (changed string, err error) {
	editor := strings.Fields(cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi"))
	f, err := os.CreateTemp("", "agentls-*"+filepath.Ext(name))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	cmd := exec.Command(editor[0], append(editor[1:], f.Name())...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.In, c.Out, c.Err
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w", editor[0], err)
	}
	b, err := os.ReadFile(f.Name())
	return string(b), err
}

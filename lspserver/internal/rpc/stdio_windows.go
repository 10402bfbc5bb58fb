package rpc

import "os"

// Stdio takes standard input and output for the connection alone, once in a
// process: what else the process prints through os.Stdout afterwards comes out
// on standard error, and os.Stdin is empty.
func Stdio() (in, out *os.File, err error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, nil, err
	}
	in, out = os.Stdin, os.Stdout
	os.Stdin, os.Stdout = null, os.Stderr
	return in, out, nil
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/throng-dev/throng/token"
)

// keyCommand writes a new key.
type keyCommand struct {
	File string `arg:"" help:"File to write; it must not exist."`
	JSON bool   `name:"json" help:"Print one JSON object."`
}

// Run writes the key file, which only its owner can read.
func (c *keyCommand) Run(con console) error {
	f, err := os.OpenFile(c.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("writing a key to %s: it exists, and whoever uses the key in it would be locked out: name a new file, or remove it first", c.File)
	}
	if err != nil {
		return fmt.Errorf("writing a key: %w", err)
	}
	_, err = fmt.Fprintln(f, token.NewKey().Hex())
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing a key: %w", err)
	}
	if c.JSON {
		return json.NewEncoder(con.out).Encode(map[string]string{"file": c.File})
	}
	_, err = fmt.Fprintf(con.out, "wrote %s: start a relay with `throng serve --key %s`, and give the file to your backend; keep it secret\n", c.File, c.File)
	return err
}

// readKey is token.ReadKey with what to do about a file that is not there.
func readKey(path string) (token.Key, error) {
	k, err := token.ReadKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		return k, fmt.Errorf("there is no key file %s: make one with `throng key %s`", path, path)
	}
	return k, err
}

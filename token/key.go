package token

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
)

// Key is a secret that backend and relay share. Use one per purpose: players, authority (see Rights).
//
// It does not print: String hides it, so a key does not end up in a log. Hex shows it.
type Key [32]byte

var errKey = errors.New("want 64 hex digits, such as `openssl rand -hex 32` prints")

// NewKey returns a random key.
func NewKey() Key {
	var k Key
	rand.Read(k[:]) // never fails: it ends the program instead
	return k
}

// ParseKey reads a key from 64 hex digits. Space around them is ignored.
func ParseKey(text string) (Key, error) {
	var k Key
	b, err := hex.DecodeString(strings.TrimSpace(text))
	// The text is a secret even if it is malformed, so no error quotes it.
	if err != nil || len(b) != len(k) {
		return k, fmt.Errorf("throng: reading a key: %w", errKey)
	}
	copy(k[:], b)
	if k == (Key{}) {
		return k, errors.New("throng: reading a key: it is all zeros: make one with `openssl rand -hex 32`")
	}
	return k, nil
}

// ReadKey reads a key from a file that holds 64 hex digits.
func ReadKey(path string) (Key, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Key{}, fmt.Errorf("throng: reading a key: %w", err)
	}
	k, err := ParseKey(string(text))
	if err != nil {
		return Key{}, fmt.Errorf("%w, in %s", err, path)
	}
	return k, nil
}

// InsecureDevKey is a key that everybody knows. It is for a relay on the loopback interface, while a game is made:
// whoever reaches a relay that uses it can be any player.
func InsecureDevKey() Key { return sha256.Sum256([]byte("throng: insecure development key")) }

// Derive returns a key for another purpose, named by a label. Keys of different labels tell nothing about one another.
func (k Key) Derive(label string) Key {
	b, err := hkdf.Key(sha256.New, k[:], nil, label, len(k))
	if err != nil {
		panic(err) // only for lengths that a Key does not have
	}
	return Key(b)
}

// Hex is what ParseKey reads.
func (k Key) Hex() string { return hex.EncodeToString(k[:]) }

func (k Key) String() string { return "token.Key(hidden)" }

// GoString keeps %#v from printing it.
func (k Key) GoString() string { return k.String() }

// Format hides the key from every other verb, %x among them.
func (k Key) Format(f fmt.State, _ rune) { fmt.Fprint(f, k.String()) }

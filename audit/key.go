package audit

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// Key signs heads. Public is what others need to check them.
type Key struct {
	Signer   note.Signer
	Verifier note.Verifier
	Public   string // a verifier key in the form of golang.org/x/mod/sumdb/note
}

// OpenKey gives the signing key kept in dir, and makes it on first use: head.key
// (mode 0600) with the secret and head.pub beside it. The name, without spaces
// and plus signs, says in every signature whose key it is; a key that exists
// keeps the name it was made with.
func OpenKey(dir, name string) (*Key, error) {
	path := filepath.Join(dir, "head.key")
	secret, err := readKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeKey(dir, name); err != nil {
			return nil, fmt.Errorf("make the key that signs heads: %w", err)
		}
		secret, err = readKey(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the key that signs heads: %w", err)
	}
	key, err := parseKey(secret)
	if err != nil {
		// The cause may quote the secret: leave it out.
		return nil, fmt.Errorf("%s holds no signing key: move it away and a new one is made", show(path))
	}
	return key, nil
}

func readKey(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s may be read by others (mode %04o): set it to 0600", show(path), info.Mode().Perm())
	}
	b, err := ReadRegular(path, MaxBeside)
	return strings.TrimSuffix(string(b), "\n"), err
}

// makeKey writes a new pair. Of two processes that make one at the same time the
// first wins, and both use its key.
func makeKey(dir, name string) error {
	secret, _, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		return err
	}
	key, err := parseKey(secret)
	if err != nil {
		return fmt.Errorf("%q cannot be the name of a key: %w", name, err)
	}
	if err := makeDir(dir); err != nil {
		return err
	}
	err = createFile(filepath.Join(dir, "head.key"), []byte(secret+"\n"))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(dir, "head.pub"), []byte(key.Public+"\n"))
}

func parseKey(secret string) (*Key, error) {
	signer, err := note.NewSigner(secret)
	if err != nil {
		return nil, err
	}
	// PRIVATE+KEY+name+hash+base64 of one byte for the algorithm and the seed.
	fields := strings.SplitN(secret, "+", 5)
	seed, err := base64.StdEncoding.DecodeString(fields[4])
	if err != nil {
		return nil, err
	}
	public := ed25519.NewKeyFromSeed(seed[1:]).Public().(ed25519.PublicKey)
	vkey, err := note.NewEd25519VerifierKey(signer.Name(), public)
	if err != nil {
		return nil, err
	}
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		return nil, err
	}
	return &Key{Signer: signer, Verifier: verifier, Public: vkey}, nil
}

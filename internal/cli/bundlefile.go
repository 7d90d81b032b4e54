package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/rewarm/rewarm/audit"
)

// otherFile is the way out where a bundle cannot be written.
const otherFile = "give another file with --out"

// writeBundleFile writes a bundle that is whole or absent, and gives its size and SHA-256. It replaces an earlier
// bundle, and nothing else: not what merely has the name, and no link or device.
func writeBundleFile(path string, write func(to io.Writer) error) (int64, string, error) {
	if err := replaceable(path); err != nil {
		return 0, "", fail(exitError, err, otherFile)
	}
	part := path + ".part"
	file, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	switch {
	case errors.Is(err, fs.ErrExist):
		return 0, "", fail(exitError, err, "another export writes it, or one was killed: then remove it, or "+otherFile)
	case err != nil:
		return 0, "", fail(exitError, err, otherFile)
	}
	hash := sha256.New()
	counted := &counter{to: io.MultiWriter(file, hash)}
	if err = write(counted); err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		_ = os.Remove(part)
		return 0, "", fail(exitError, err, otherFile)
	}
	return counted.size, hex.EncodeToString(hash.Sum(nil)), nil
}

// zipBegins is how every zip begins that has an entry.
var zipBegins = []byte("PK\x03\x04")

// replaceable refuses a path at which something else lies than a bundle, or nothing.
func replaceable(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	if err := audit.CheckRegular(path, info); err != nil {
		return fmt.Errorf("%w, and is left alone", err)
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	begins := make([]byte, len(zipBegins))
	if n, err := io.ReadFull(file, begins); n > 0 && !bytes.Equal(begins, zipBegins) {
		return fmt.Errorf("%s is there and is no bundle, and is left alone", oneLine(path))
	} else if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return nil
}

// counter counts the bytes that go through it.
type counter struct {
	to   io.Writer
	size int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	c.size += int64(n)
	return n, err
}

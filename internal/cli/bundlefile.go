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

// bundleFile is a bundle as it lies on the disk.
type bundleFile struct {
	size     int64
	sum      string // SHA-256
	replaced string // SHA-256 of the bundle that it took the place of, "" for none
}

// writeBundleFile writes a bundle that is whole or absent. It replaces an earlier bundle, and nothing else: not what
// merely has the name, and no link or device.
func writeBundleFile(path string, write func(to io.Writer) error) (bundleFile, error) {
	earlier, err := replaceable(path)
	if err != nil {
		return bundleFile{}, fail(exitError, err, otherFile)
	}
	part := path + ".part"
	file, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	switch {
	case errors.Is(err, fs.ErrExist):
		return bundleFile{}, fail(exitError, err, "another export writes it, or one was killed: then remove it, or "+otherFile)
	case err != nil:
		return bundleFile{}, fail(exitError, err, otherFile)
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
		return bundleFile{}, fail(exitError, err, otherFile)
	}
	return bundleFile{size: counted.size, sum: hex.EncodeToString(hash.Sum(nil)), replaced: earlier}, nil
}

// zipBegins is how every zip begins that has an entry.
var zipBegins = []byte("PK\x03\x04")

// replaceable refuses a path at which something else lies than a bundle, or nothing. It gives the SHA-256 of the bundle,
// "" where nothing lies.
func replaceable(path string) (sum string, err error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	}
	if err := audit.CheckRegular(path, info); err != nil {
		return "", fmt.Errorf("%w, and is left alone", err)
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	begins := make([]byte, len(zipBegins))
	if n, err := io.ReadFull(file, begins); n > 0 && !bytes.Equal(begins, zipBegins) {
		return "", fmt.Errorf("%s is there and is no bundle, and is left alone", oneLine(path))
	} else if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", err
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, io.MultiReader(bytes.NewReader(begins), file)); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
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

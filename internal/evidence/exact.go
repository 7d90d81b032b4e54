package evidence

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"maps"
	"math"
	"slices"
)

// exact reports whether a zip is byte for byte what pack writes for its files. Else it was packed by something
// else, or has bytes besides its files. It packs them again, and compares what comes out with what is there.
func exact(bundle io.ReaderAt, size int64, list files) (bool, error) {
	rest := &following{from: bundle}
	w := zip.NewWriter(rest)
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if err := repack(w, rest, list[name].(*summed)); err != nil {
			return false, unlessDiffers(err)
		}
	}
	if err := w.Close(); err != nil {
		return false, unlessDiffers(err)
	}
	return rest.at == size, nil
}

func unlessDiffers(err error) error {
	if errors.Is(err, errDiffers) {
		return nil
	}
	return err
}

// repack compares one file with what pack writes for it. What was read to its end, and so has the checksum that the
// zip says, is not read again: where it lies tells.
func repack(w *zip.Writer, rest *following, content *summed) error {
	file := content.Source.(packed)
	if content.found.Load() == nil || file.UncompressedSize64 >= math.MaxUint32 {
		to, err := w.CreateHeader(headerOf(file.Name))
		if err == nil {
			_, err = pour(to, file)
		}
		return err
	}
	header, err := file.repacked()
	if err != nil {
		return err
	}
	to, err := w.CreateRaw(header)
	if err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if offset, err := file.DataOffset(); err != nil || offset != rest.at {
		return errors.Join(err, errDiffers)
	}
	return rest.skip(to, file.Size())
}

// repacked is the header that pack writes for a file, its size and its checksum behind it.
func (p packed) repacked() (*zip.FileHeader, error) {
	header := headerOf(p.Name)
	if _, err := zip.NewWriter(io.Discard).CreateHeader(header); err != nil { // it completes the header
		return nil, err
	}
	header.CRC32, header.CompressedSize64, header.UncompressedSize64 = p.CRC32, p.UncompressedSize64, p.UncompressedSize64
	return header, nil
}

// following compares what is written to it with what is there.
type following struct {
	from    io.ReaderAt
	at      int64
	skipped int64 // of what comes next
	room    []byte
}

func (f *following) Write(b []byte) (int, error) {
	skipped := min(f.skipped, int64(len(b)))
	f.at, f.skipped = f.at+skipped, f.skipped-skipped
	rest := b[skipped:]
	f.room = slices.Grow(f.room[:0], len(rest))[:len(rest)]
	if n, _ := f.from.ReadAt(f.room, f.at); n < len(rest) || !bytes.Equal(f.room, rest) {
		return 0, errDiffers
	}
	f.at += int64(len(rest))
	return len(b), nil
}

// skip writes so many bytes that are not compared.
func (f *following) skip(to io.Writer, size int64) error {
	f.skipped = size
	_, err := io.CopyN(to, anything{}, size)
	return err
}

// anything has bytes without an end, of which nobody knows what they are.
type anything struct{}

func (anything) Read(b []byte) (int, error) { return len(b), nil }

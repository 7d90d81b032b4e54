package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// makeDir makes a directory and its parents, readable by their owner alone, and
// syncs the directory in which each new one stands: a name is on disk only when
// its directory is.
func makeDir(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeDir(filepath.Dir(dir)); err != nil {
			return err
		}
		err = os.Mkdir(dir, 0o700)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // directories cannot be opened for syncing there
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// createFile puts a whole file in place that must not exist yet: it is written
// and synced under another name first, so nobody ever sees half of it.
func createFile(path string, content []byte) error {
	return placeFile(path, content, os.Link)
}

// Place puts records that came from elsewhere, such as a mirror, in place as a segment: the
// whole file or none of it. The file must not exist; missing directories are made.
func Place(path string, records []Record) error {
	var content []byte
	for _, r := range records {
		content = append(append(content, r.Line()...), '\n')
	}
	err := makeDir(filepath.Dir(path))
	if err == nil {
		err = createFile(path, content)
	}
	if err != nil {
		return fmt.Errorf("place %s: %w", show(path), err)
	}
	return nil
}

// replaceFile puts a whole file in place of an older one.
func replaceFile(path string, content []byte) error {
	return placeFile(path, content, os.Rename)
}

func placeFile(path string, content []byte, place func(from, to string) error) error {
	dir := filepath.Dir(path)
	temp, err := os.CreateTemp(dir, "."+filepath.Base(path)+"-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // fails after a rename, as it should
	_, err = temp.Write(content)
	if err == nil {
		err = temp.Sync()
	}
	if err := errors.Join(err, temp.Close()); err != nil {
		return err
	}
	if err := place(temp.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

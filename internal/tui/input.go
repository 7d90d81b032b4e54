package tui

import (
	"io"
	"os"
	"sync"
)

// watchedInput tells when a terminal has nothing more to say. The terminal library passes over the end of
// its input, and a process whose hangups are ignored gets no signal either.
type watchedInput struct {
	*os.File
	once *sync.Once
	gone func()
}

// watched gives an input that calls gone at its end; what is no file is read as it is.
func watched(in io.Reader, gone func()) io.Reader {
	file, ok := in.(*os.File)
	if !ok {
		return in
	}
	return watchedInput{file, &sync.Once{}, gone}
}

// Read is called only when there is something to read: nothing then means that the terminal is gone.
func (w watchedInput) Read(p []byte) (int, error) {
	n, err := w.File.Read(p)
	if n == 0 && err != nil {
		w.once.Do(w.gone)
	}
	return n, err
}

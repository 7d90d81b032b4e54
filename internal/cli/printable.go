package cli

import (
	"io"

	"github.com/rewarm/rewarm/internal/harmless"
)

// printable is text from outside on as many lines as it has.
func printable(text string) string { return harmless.Text(text) }

// oneLine is printable text on a single line.
func oneLine(text string) string { return harmless.Line(text) }

// printableWriter passes text on with everything hidden made visible. One Write
// must not end inside a character.
type printableWriter struct{ to io.Writer }

func (w printableWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.to, printable(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

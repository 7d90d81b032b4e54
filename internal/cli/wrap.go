package cli

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// hang is how far what belongs to a line is set in below it: as far as "rewarm: ".
const hang = 8

// columns is the width of the terminal behind the writer, 0 when there is none.
func (w printableWriter) columns() int {
	file, ok := w.to.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// columnsOf is the width that lines have on a writer, 0 when nothing bounds them: a
// line in a file stays one line.
func columnsOf(w io.Writer) int {
	if screen, ok := w.(interface{ columns() int }); ok {
		return screen.columns()
	}
	return 0
}

// wrap breaks a line at spaces so that none is wider than width, and sets what follows
// in by indent. A word that is too long stays whole.
func wrap(line string, width, indent int) string {
	line = strings.TrimRight(line, " ")
	if width < 2*indent {
		return line
	}
	var b strings.Builder
	for utf8.RuneCountInString(line) > width {
		cut := breakAt(line, width)
		if cut < 0 {
			break
		}
		b.WriteString(strings.TrimRight(line[:cut], " ") + "\n")
		line = strings.Repeat(" ", indent) + strings.TrimLeft(line[cut:], " ")
	}
	return b.String() + line
}

// breakAt finds the space to break at: the last that leaves no more than width before
// it, else the first there is; -1 when there is none behind the indentation.
func breakAt(line string, width int) int {
	begins := len(line) - len(strings.TrimLeft(line, " "))
	last, runes := -1, 0
	for i, r := range line {
		if r == ' ' && i > begins {
			if runes > width && last >= 0 {
				return last
			}
			if last = i; runes > width {
				return last
			}
		}
		runes++
	}
	return last
}

// textColumn is where the text of a row begins: behind its label, which two spaces or
// more end, else two behind its indentation.
func textColumn(row string) int {
	begins := len(row) - len(strings.TrimLeft(row, " "))
	if label := strings.Index(row[begins:], "  "); label > 0 {
		gap := begins + label
		return utf8.RuneCountInString(row) - utf8.RuneCountInString(strings.TrimLeft(row[gap:], " "))
	}
	return begins + 2
}

// wrapRows wraps each row below its own text, but for commands.
func wrapRows(rows []string, width int) string {
	var b strings.Builder
	for _, row := range rows {
		if !pasted(row) {
			row = wrap(row, width, textColumn(row))
		}
		b.WriteString(row + "\n")
	}
	return b.String()
}

// pasted reports whether a row is a command: a line break would end it where it is pasted.
func pasted(row string) bool {
	text := strings.TrimPrefix(strings.TrimLeft(row, " "), "next: ")
	return strings.HasPrefix(text, "rewarm ") || strings.HasPrefix(text, "redis-cli ")
}

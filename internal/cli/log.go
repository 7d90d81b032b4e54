package cli

import (
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"sync"

	"github.com/rewarm/rewarm/actions"
)

// openLog opens --log-file for diagnostics. Without it nothing is written, and
// nothing that a library logs can reach the screen.
func (p *program) openLog() error {
	if err := p.logToFile(); err != nil {
		return err
	}
	slog.SetDefault(p.log)
	actions.LogTo(p.log)
	return nil
}

func (p *program) logToFile() error {
	if p.settings.logFile == "" {
		return nil
	}
	file, err := os.OpenFile(p.settings.logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fail(exitError, fmt.Errorf("--log-file: %w", err), "give a file that can be written")
	}
	p.closeLater(file.Close)
	p.log = slog.New(slog.NewJSONHandler(file, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: redactAttr}))
	return nil
}

// redactAttr removes secrets from what is logged as text, an error or a Stringer.
func redactAttr(_ []string, attr slog.Attr) slog.Attr {
	if kind := attr.Value.Kind(); kind != slog.KindString && kind != slog.KindAny {
		return attr
	}
	attr.Value = slog.StringValue(redact(fmt.Sprint(attr.Value.Any())))
	return attr
}

// secret is the shape of something that must not be shown, and what stands for it.
type secret struct {
	shape *regexp.Regexp
	as    string
}

// secrets are compiled on first use: most commands never log.
var secrets = sync.OnceValue(func() []secret {
	return []secret{
		{regexp.MustCompile(`(?i)\b([a-z][a-z0-9+.-]*://)[^/\s"'@]*@`), "${1}"},
		{regexp.MustCompile(`(?i)\b(bearer|basic)\s+[a-z0-9+/._~=-]+`), "${1} [removed]"},
		{regexp.MustCompile(`(?i)\b(password|passwd|token|secret|api_?key|access_key)(["']?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s&,;"']+)`), "${1}${2}[removed]"},
	}
})

// redact removes the passwords of URLs, tokens and the like from a text.
func redact(text string) string {
	for _, s := range secrets() {
		text = s.shape.ReplaceAllString(text, s.as)
	}
	return text
}

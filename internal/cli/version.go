package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker in a release: -X github.com/rewarm/rewarm/internal/cli.version=1.2.3
var version string

// built says what this binary is.
type built struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Changed  bool   `json:"changed,omitempty"` // built from a tree with changes
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func thisBuild() built {
	b := built{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if ok {
		if b.Version == "" {
			b.Version = info.Main.Version
		}
		for _, setting := range info.Settings {
			switch setting.Key {
			case "vcs.revision":
				b.Revision = setting.Value
			case "vcs.modified":
				b.Changed = setting.Value == "true"
			}
		}
	}
	if b.Version == "" || b.Version == "(devel)" {
		b.Version = "development"
	}
	return b
}

func (b built) String() string {
	text := fmt.Sprintf("rewarm %s (%s, %s)", b.Version, b.Go, b.Platform)
	if b.Revision != "" {
		text += " revision " + b.Revision
		if b.Changed {
			text += " with changes"
		}
	}
	return text
}

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Say which version this is",
		Args:  exactly(0, "version"),
		RunE: func(*cobra.Command, []string) error {
			if p.settings.json() {
				return json.NewEncoder(p.out).Encode(thisBuild())
			}
			_, err := fmt.Fprintln(p.out, thisBuild())
			return err
		},
	}
}

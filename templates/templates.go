// Package templates holds the documents that come with rewarm, as files: the
// bundled runbooks under runbooks/.
package templates

import "embed"

// Files are the templates, by their path in this folder.
//
//go:embed runbooks
var Files embed.FS

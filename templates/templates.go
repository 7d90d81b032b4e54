// Package templates holds the documents that come with rewarm, as files: the
// bundled runbooks under runbooks/ and the scenarios of
// the lab under scenarios/.
package templates

import "embed"

// Files are the templates, by their path in this folder.
//
//go:embed runbooks scenarios
var Files embed.FS

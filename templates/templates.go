// Package templates holds the documents that come with rewarm, as files: the
// bundled runbooks under runbooks/, the scenarios of the lab under scenarios/, the
// rules of diagnosis under diagnosis/, the game days under gamedays/ and the reports of evidence under reports/.
package templates

import "embed"

// Files are the templates, by their path in this folder.
//
//go:embed diagnosis gamedays reports runbooks scenarios
var Files embed.FS

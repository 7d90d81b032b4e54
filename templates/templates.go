// Package templates holds the documents that come with rewarm, as files: the bundled
// runbooks under runbooks/, the scenarios of the lab under scenarios/, the rules of
// diagnosis under diagnosis/, the game days under gamedays/, the runbooks with a classic
// mistake that some of those walk under mistaken/, and the reports of evidence under
// reports/.
package templates

import "embed"

// Files are the templates, by their path in this folder.
//
//go:embed diagnosis gamedays mistaken reports runbooks scenarios
var Files embed.FS

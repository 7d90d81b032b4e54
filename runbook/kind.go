package runbook

// KindOf gives the kind that a file names at its top, whatever it is; it is empty where
// the file names none or cannot be read.
func KindOf(source []byte) string {
	d := newDecoder("", nil)
	text, wrong := cleanSource(source)
	if wrong != nil {
		return ""
	}
	root := d.parseTree(text)
	if root == nil {
		return ""
	}
	if n := root.find("kind"); n != nil {
		return n.text
	}
	return ""
}

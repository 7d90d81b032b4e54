package audit

import (
	"crypto/sha256"
	"encoding/hex"
)

// hexLen is the length of a SHA-256 in hex digits.
const hexLen = 2 * sha256.Size

// digest is the SHA-256 of a line without its newline.
type digest [sha256.Size]byte

func (d digest) String() string { return hex.EncodeToString(d[:]) }

// short is enough of a digest for a sentence.
func (d digest) short() string { return d.String()[:shortHash] }

// parseDigest reads 64 lower-case hex digits. It stands in the path of every chain
// check: one pass, no branches, where hex.Decode would take upper case as well.
func parseDigest(digits []byte) (d digest, ok bool) {
	if len(digits) != hexLen {
		return digest{}, false
	}
	var seen byte
	for i := range d {
		high, low := hexValue[digits[2*i]], hexValue[digits[2*i+1]]
		seen |= high | low
		d[i] = high<<4 | low
	}
	return d, seen < 16
}

// hexValue is the value of a hex digit, 255 for any other byte.
var hexValue = func() (values [256]byte) {
	for i := range values {
		values[i] = 255
	}
	for i, c := range []byte("0123456789abcdef") {
		values[c] = byte(i)
	}
	return values
}()

func isHex(c byte) bool { return hexValue[c] < 16 }

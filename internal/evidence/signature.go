package evidence

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// signatureFile says who exported a bundle: the manifest's hash, signed with the key of heads.
const signatureFile = "manifest.sig"

// signatureFormat is its first line, which no signed head has.
const signatureFormat = "rewarm evidence manifest v1"

func signedText(run string, manifest []byte) string {
	sum := sha256.Sum256(manifest)
	return signatureFormat + "\n" + run + "\n" + hex.EncodeToString(sum[:]) + "\n"
}

// signManifest gives a signed note. Ed25519 gives the same signature each time.
func signManifest(run string, manifest []byte, signer note.Signer) ([]byte, error) {
	signed, err := note.Sign(&note.Note{Text: signedText(run, manifest)}, signer)
	if err != nil {
		return nil, fmt.Errorf("sign the manifest: %w", err)
	}
	return signed, nil
}

// checkSignature holds the manifest against its signature, if there is one.
func (v *Verified) checkSignature(list files, keys []note.Verifier) error {
	if list[signatureFile] == nil {
		return nil
	}
	signed, err := hold(list[signatureFile])
	if err != nil {
		return broken(signatureFile, "%v", err)
	}
	manifest, err := hold(list[manifestFile])
	if err != nil {
		return broken(manifestFile, "%v", err)
	}
	n, err := openNote(signed, keys)
	if err != nil {
		return broken(signatureFile, "%v", err)
	}
	by := n.Sigs[0]
	if n.Text != signedText(Manifest{Run: v.Run, Runs: v.Runs}.of(), manifest) {
		return broken(manifestFile, "it is not the one that %s signed: it was changed after the export, as were files that it names", keyID(by.Name, by.Hash))
	}
	if string(signed) != n.Text+"\n— "+by.Name+" "+by.Base64+"\n" {
		return broken(signatureFile, "it is not as rewarm writes it")
	}
	if _, err := base64.StdEncoding.Strict().DecodeString(by.Base64); err != nil {
		return broken(signatureFile, "it is not as rewarm writes it")
	}
	v.ManifestBy = keyID(by.Name, by.Hash)
	return nil
}

// openNote opens a signed text with the first of the keys that has signed it.
func openNote(signed []byte, keys []note.Verifier) (*note.Note, error) {
	if len(keys) == 0 {
		return nil, errors.New("the bundle has no key to check it with")
	}
	var first error
	for _, key := range keys {
		n, err := note.Open(signed, note.VerifierList(key))
		if err == nil {
			return n, nil
		}
		if unknown := (*note.UnverifiedNoteError)(nil); errors.As(err, &unknown) {
			by := unknown.Note.UnverifiedSigs[0]
			err = notSignedBy(keyID(by.Name, by.Hash), keys)
		} else {
			return nil, err
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

func notSignedBy(key string, keys []note.Verifier) error {
	return fmt.Errorf("it is signed by %s, not by %s", key, namesOf(keys))
}

// keyID tells keys apart that have the same name.
func keyID(name string, hash uint32) string { return fmt.Sprintf("%s+%08x", visible(name), hash) }

func namesOf(keys []note.Verifier) string {
	var names []string
	for _, key := range keys {
		names = append(names, keyID(key.Name(), key.KeyHash()))
	}
	return strings.Join(names, " or ")
}

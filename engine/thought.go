package engine

import (
	"bytes"

	"google.golang.org/genai"
)

// signedBy begins the signature of a thought that a provider other than Google has made.
const signedBy = "gemline:"

// Sign returns the signature of a thought that is sent back only to the provider that made it.
// The provider's own signature may be empty. Google's signatures are used unchanged.
func Sign(provider string, signature []byte) []byte {
	return append([]byte(signedBy+provider+":"), signature...)
}

// SignedBy returns the provider that a signature made by [Sign] names, and the provider's own
// signature; "" for other signatures.
func SignedBy(signature []byte) (provider string, own []byte) {
	rest, ok := bytes.CutPrefix(signature, []byte(signedBy))
	if !ok {
		return "", nil
	}
	name, own, ok := bytes.Cut(rest, []byte(":"))
	if !ok {
		return "", nil
	}
	return string(name), own
}

// IsSignedThought reports whether p is a thought that must be sent back to its provider.
func IsSignedThought(p *genai.Part) bool {
	by, _ := SignedBy(p.ThoughtSignature)
	return p.Thought && by != ""
}

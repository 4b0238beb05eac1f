package engine

import (
	"bytes"

	"google.golang.org/genai"
)

// signedBy begins the signature of a thought that a provider other than Google has made.
const signedBy = "gemline:"

// Sign returns the signature of a thought that goes back to the provider that has made it,
// and to nobody else. The provider's own signature may be empty. Signatures of Google's are
// as they came.
func Sign(provider string, signature []byte) []byte {
	return append([]byte(signedBy+provider+":"), signature...)
}

// SignedBy returns the provider that has made a signature by [Sign], and its own signature;
// "" for any other.
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

// IsSignedThought reports whether p is a thought that goes back to the provider that has made it.
func IsSignedThought(p *genai.Part) bool {
	by, _ := SignedBy(p.ThoughtSignature)
	return p.Thought && by != ""
}

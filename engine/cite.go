package engine

import (
	"cmp"
	"slices"
	"strings"

	"google.golang.org/genai"
)

// A Reference is a source, such as a page, that an answer rests on or repeats. Its text is
// untrusted.
type Reference struct {
	Title string `json:"title,omitempty"`
	URI   string `json:"uri"`
}

// String returns the reference on one line: "(title) uri".
func (r Reference) String() string {
	if r.Title == "" {
		return r.URI
	}
	return "(" + r.Title + ") " + r.URI
}

// mostReferences is how many references of an answer are reported.
const mostReferences = 100

// references returns the sources of a candidate.
func references(c *genai.Candidate) (all []Reference) {
	if m := c.CitationMetadata; m != nil {
		for _, r := range m.Citations {
			if r != nil && r.URI != "" {
				all = append(all, Reference{r.Title, r.URI})
			}
		}
	}
	if g := c.GroundingMetadata; g != nil {
		for _, r := range g.GroundingChunks {
			if r != nil && r.Web != nil && r.Web.URI != "" {
				all = append(all, Reference{r.Web.Title, r.Web.URI})
			}
		}
	}
	return all
}

// sorted returns the references in order, without duplicates.
func sorted(all []Reference) []Reference {
	slices.SortFunc(all, func(a, b Reference) int {
		return cmp.Or(strings.Compare(a.Title, b.Title), strings.Compare(a.URI, b.URI))
	})
	all = slices.Compact(all)
	return all[:min(len(all), mostReferences)]
}

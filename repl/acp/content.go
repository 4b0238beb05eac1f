package acp

import (
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"strings"

	protocol "github.com/coder/acp-go-sdk"
	"google.golang.org/genai"

	"gemline/repl/input"
)

// A promptContent is the content of a prompt: words, which may be a command and refer to files, and
// attachments.
type promptContent struct {
	text   string
	beside []*genai.Part
}

// read reads the blocks of a prompt. A link to a file becomes a reference.
func read(blocks []protocol.ContentBlock) (a promptContent, err error) {
	var words strings.Builder
	var contents []*genai.Part
	for i, b := range blocks {
		var p *genai.Part
		switch {
		case b.Text != nil && b.Text.Type == "text": // an unknown block is also decoded as text
			words.WriteString(b.Text.Text)
		case b.Image != nil:
			p, err = media(b.Image.MimeType, b.Image.Data)
			a.beside = append(a.beside, p)
		case b.Audio != nil:
			p, err = media(b.Audio.MimeType, b.Audio.Data)
			a.beside = append(a.beside, p)
		case b.ResourceLink != nil:
			words.WriteString(reference(b.ResourceLink.Name, b.ResourceLink.Uri))
		case b.Resource != nil:
			var ps []*genai.Part
			var name string
			ps, name, err = embedded(b.Resource.Resource)
			words.WriteString(name)
			contents = append(contents, ps...)
		default:
			err = errors.New("its type is none that is known")
		}
		if err != nil {
			return a, fmt.Errorf("block %d of the prompt: %w", i+1, err)
		}
	}
	a.text = words.String()
	a.beside = append(a.beside, input.Referenced(contents)...)
	if strings.TrimSpace(a.text) == "" {
		if a.text = ""; len(a.beside) == 0 {
			return a, errors.New("the prompt is empty")
		}
	}
	return a, nil
}

// media converts data for the model.
func media(kind, data string) (*genai.Part, error) {
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil || len(b) == 0 {
		return nil, errors.New("its data is no base64")
	}
	if kind, _, err = mime.ParseMediaType(kind); err != nil {
		return nil, errors.New("its data needs a mime type")
	}
	return genai.NewPartFromBytes(b, kind), nil
}

// fileOf returns the path in a file URI, and the lines that the URI names, if any.
func fileOf(uri string) (path, lines string, ok bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || u.Path == "" {
		return "", "", false
	}
	return u.Path, u.Fragment, true
}

// reference returns a link as a user would type it.
func reference(name, uri string) string {
	path, lines, ok := fileOf(uri)
	if !ok || strings.ContainsAny(path, "\"\r\n") {
		return "[" + name + "](" + uri + ")"
	}
	said := `@"` + path + `"`
	if lines != "" {
		said += " (" + lines + ")"
	}
	return said
}

// embedded returns a resource that the editor embedded in the prompt, and its name.
func embedded(r protocol.EmbeddedResourceResource) (parts []*genai.Part, name string, err error) {
	title := func(uri string) string {
		if path, lines, ok := fileOf(uri); ok {
			if lines != "" {
				path += "#" + lines
			}
			return path
		}
		return uri
	}
	switch {
	case r.TextResourceContents != nil:
		t := r.TextResourceContents
		name = title(t.Uri)
		parts = []*genai.Part{genai.NewPartFromText("\nContent from " + name + ":\n"), genai.NewPartFromText(t.Text)}
	case r.BlobResourceContents != nil:
		b := r.BlobResourceContents
		kind := "application/octet-stream"
		if b.MimeType != nil {
			kind = *b.MimeType
		}
		p, err := media(kind, b.Blob)
		if err != nil {
			return nil, "", err
		}
		name = title(b.Uri)
		parts = []*genai.Part{genai.NewPartFromText("\nContent from " + name + ":\n"), p}
	default:
		return nil, "", errors.New("the resource has neither a text nor data")
	}
	return parts, "[" + name + "]", nil
}

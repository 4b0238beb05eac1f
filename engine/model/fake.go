package model

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"sync"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/text"
)

// The methods in recordings.
const (
	methodStream = "generateContentStream"
	methodWhole  = "generateContent"
	methodCount  = "countTokens"
	methodEmbed  = "embedContent"
)

// A Fake is a Generator that plays back a recording: a file of lines such as
//
//	{"method":"generateContentStream","response":[<response>, ...]}
//	{"method":"countTokens","response":{"totalTokens":7}}
//
// Blank lines don't count. Lines are read when they are needed, each once.
type Fake struct {
	name   string
	strict bool

	mu     sync.Mutex
	r      *bufio.Reader
	closer io.Closer
	line   int      // number of the last read line
	skip   []record // read lines of other methods than requested
}

// A record is one line of a recording.
type record struct {
	Method   string
	Response json.RawMessage
	line     int
}

// OpenFake returns a Fake of the named file. If strict, every call takes the
// next line and fails if that is of another method; else it takes the next
// line of its method.
func OpenFake(name string, strict bool) (*Fake, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("is a directory")}
	}
	fake := NewFake(name, f, strict)
	fake.closer = f
	return fake, nil
}

// NewFake is like [OpenFake], reading r, which errors call name.
func NewFake(name string, r io.Reader, strict bool) *Fake {
	return &Fake{name: name, strict: strict, r: bufio.NewReaderSize(r, 64<<10)}
}

// Close closes the file.
func (f *Fake) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closer == nil {
		return nil
	}
	c := f.closer
	f.closer, f.r = nil, bufio.NewReader(bytes.NewReader(nil))
	return c.Close()
}

// take returns the line for a request by method.
func (f *Fake) take(method string, req *engine.Request) (record, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, r := range f.skip {
		if r.Method == method {
			f.skip = append(f.skip[:i:i], f.skip[i+1:]...)
			return r, nil
		}
	}
	for {
		r, err := f.read()
		switch {
		case err == io.EOF:
			return r, exhausted(method, req)
		case err != nil:
			return r, err
		case r.Method == method:
			return r, nil
		case f.strict:
			//lint:ignore ST1005 scripts know these words
			return r, fmt.Errorf("Unexpected response type, next response was for %s but expected %s", r.Method, method)
		}
		f.skip = append(f.skip, r)
	}
}

// read returns the next line that is not blank.
func (f *Fake) read() (record, error) {
	for {
		line, err := f.r.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return record{}, fmt.Errorf("read the recording: %w", err)
		}
		f.line++
		if f.line == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if len(bytes.TrimSpace(line)) == 0 {
			if err == io.EOF {
				return record{}, io.EOF
			}
			continue
		}
		r := record{line: f.line}
		if err := json.Unmarshal(line, &r); err != nil {
			return r, f.at(f.line, err)
		}
		switch r.Method {
		case methodStream, methodWhole, methodCount, methodEmbed:
			return r, nil
		}
		return r, f.at(f.line, fmt.Errorf("the method is %q, not %s, %s, %s or %s",
			r.Method, methodStream, methodWhole, methodCount, methodEmbed))
	}
}

// at adds the place to err.
func (f *Fake) at(line int, err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("%s:%d:%d: %w", f.name, line, syntax.Offset, err)
	}
	return fmt.Errorf("%s:%d: %w", f.name, line, err)
}

// exhausted is the error of a request for which no line is left.
func exhausted(method string, req *engine.Request) error {
	said, err := body{contents: req.Contents}.encode(nil)
	asked := said.text()
	if err == nil {
		asked, err = text.JSON(struct {
			Model    string                       `json:"model"`
			Contents json.RawMessage              `json:"contents"`
			Config   *genai.GenerateContentConfig `json:"config,omitempty"`
		}{req.Model, asked[len(`{"contents":`) : len(asked)-1], req.Config}, "")
	}
	if err != nil {
		asked = []byte(err.Error())
	}
	//lint:ignore ST1005 scripts know these words
	return fmt.Errorf("No more mock responses for %s, got request:\n%s", method, asked)
}

// Generate implements [engine.Generator].
func (f *Fake) Generate(ctx context.Context, req *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	return Chunks(ctx, func(emit func(*genai.GenerateContentResponse) error) error { return f.generate(ctx, req, emit) })
}

func (f *Fake) generate(ctx context.Context, req *engine.Request, emit func(*genai.GenerateContentResponse) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	method := methodStream
	if req.OneShot {
		method = methodWhole
	}
	r, err := f.take(method, req)
	if err != nil {
		return err
	}
	responses := []json.RawMessage{r.Response}
	if method == methodStream && (json.Unmarshal(r.Response, &responses) != nil || responses == nil) {
		return f.at(r.line, fmt.Errorf("the response of %s is no list", method))
	}
	var d decoder
	for _, response := range responses {
		chunk, _, err := d.decode(response)
		if err == nil && chunk == nil {
			err = fmt.Errorf("an error stands where a response should")
		}
		if err != nil {
			return f.at(r.line, err)
		}
		if err := emit(chunk); err != nil {
			return err
		}
	}
	return nil
}

// Count implements [engine.Generator].
func (f *Fake) Count(ctx context.Context, req *engine.Request) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	r, err := f.take(methodCount, req)
	if err != nil {
		return 0, err
	}
	var count struct{ TotalTokens int }
	if err := json.Unmarshal(r.Response, &count); err != nil {
		return 0, f.at(r.line, err)
	}
	return count.TotalTokens, nil
}

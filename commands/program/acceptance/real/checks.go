package real

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/model"
	"gemline/engine/model/catalog"
	"gemline/engine/network"
)

// checks are what is asked, in order: some go on with the session of the one before.
var checks = []struct {
	name string
	run  func(context.Context, *runner) error
}{
	{"models", models},
	{"text", text},
	{"stream", stream},
	{"calls in parallel", calls},
	{"search", search},
	{"page", page},
	{"image", picture},
	{"signature over a resume", signature},
	{"compression", compression},
	{"count", count},
	{"schema", schema},
	{"wrong key", wrongKey},
	{"dead model", deadModel},
	{"thinking", thinking},
	{"continuation", continuation},
}

// fast is the model that is asked where nothing depends on it.
const fast = "flash"

// says returns an error unless an answer holds all of words, in letters of any case.
func says(answer string, words ...string) error {
	for _, w := range words {
		if !strings.Contains(strings.ToLower(answer), strings.ToLower(w)) {
			return fmt.Errorf("the answer lacks %q: %s", w, answer)
		}
	}
	return nil
}

func models(ctx context.Context, r *runner) error {
	o, err := r.program(ctx, nil, "models", "list", "--online", "--json")
	if err == nil && o.code != 0 {
		err = errors.New(reason(o.stderr))
	}
	if err != nil {
		return err
	}
	for _, m := range o.Models {
		if catalog.Shipped().Has(m.Name) {
			return nil
		}
	}
	return fmt.Errorf("of the %d models that the server has, none is known", len(o.Models))
}

func text(ctx context.Context, r *runner) error {
	o, err := r.ask(ctx, "-m", fast, "--json", "-p", "Answer with the one word pong.")
	if err != nil {
		return err
	}
	return says(o.Response, "pong")
}

func stream(ctx context.Context, r *runner) error {
	o, err := r.ask(ctx, "-m", fast, "-o", "stream-json", "-p", "Count from 1 to 80 in words, one number a line, and nothing else.")
	if err != nil {
		return err
	}
	if n := strings.Count(o.stdout, `"role":"assistant"`); n < 2 {
		return fmt.Errorf("the answer came in %d pieces", n)
	}
	return says(o.stdout, "eighty", `"type":"result"`)
}

func calls(ctx context.Context, r *runner) error {
	o, err := r.ask(ctx, "-y", "-m", fast, "-o", "stream-json", "-p",
		"Read one.txt, two.txt and three.txt with three calls of read_file, all in one step. Then answer with the three words in them.")
	if err != nil {
		return err
	}
	before, _, _ := strings.Cut(o.stdout, `"type":"tool_result"`)
	if n := strings.Count(before, `"type":"tool_use"`); n < 3 {
		return fmt.Errorf("%d calls before the first result", n)
	}
	return says(o.stdout, "apple", "banana", "cherry")
}

// uses asks something that a tool is needed for.
func uses(ctx context.Context, r *runner, tool, prompt, want string) error {
	o, err := r.ask(ctx, "-y", "-m", fast, "--json", "-p", prompt)
	if err != nil {
		return err
	}
	if o.Stats.Tools.ByName[tool].Success == 0 {
		return fmt.Errorf("%s was not called, or failed", tool)
	}
	return says(o.Response, want)
}

func search(ctx context.Context, r *runner) error {
	return uses(ctx, r, "google_web_search", "Find out with google_web_search in which year Go 1.0 was released. Answer with the year.", "2012")
}

func page(ctx context.Context, r *runner) error {
	return uses(ctx, r, "web_fetch", "Read https://example.com with web_fetch. Answer with the heading of the page.", "example domain")
}

func picture(ctx context.Context, r *runner) error {
	o, err := r.ask(ctx, "-m", fast, "--json", "-p", "Which colour has ./dot.png? Answer with one word. @dot.png")
	if err != nil {
		return err
	}
	return says(o.Response, "red")
}

// dot returns an image that is red all over.
func dot() []byte {
	m := image.NewRGBA(image.Rect(0, 0, 64, 64))
	draw.Draw(m, m.Bounds(), image.NewUniform(color.RGBA{R: 255, A: 255}), image.Point{}, draw.Src)
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic(err) // an image in memory can be encoded
	}
	return b.Bytes()
}

func signature(ctx context.Context, r *runner) error {
	if err := uses(ctx, r, "read_file", "Read one.txt with read_file. Answer with the word in it.", "apple"); err != nil {
		return err
	}
	o, err := r.ask(ctx, "--resume", "latest", "-m", fast, "--json", "-p", "Which file was that? Answer with its name.")
	if err != nil {
		return err
	}
	if strings.Contains(o.stderr, "signature") {
		return errors.New(reason(o.stderr))
	}
	return says(o.Response, "one.txt")
}

func compression(ctx context.Context, r *runner) error {
	for _, args := range [][]string{{"-p", "Read this and say ok: @story.txt"}, {"--resume", "latest", "-p", "Say ok again."},
		{"--resume", "latest", "-p", "Say ok once more."}, {"--resume", "latest", "-p", "/compress"}} {
		if _, err := r.ask(ctx, append([]string{"-m", fast}, args...)...); err != nil {
			return err
		}
	}
	return nil
}

// story returns a text that a summary is shorter than.
func story() []byte {
	var b bytes.Buffer
	for i := range 400 {
		fmt.Fprintf(&b, "On day %d the ship sailed %d miles.\n", i+1, 7*i%90)
	}
	return b.Bytes()
}

func schema(ctx context.Context, r *runner) error {
	o, err := r.ask(ctx, "-m", fast, "--json", "--json-schema",
		`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`, "-p", "n is seven.")
	if err != nil {
		return err
	}
	if fmt.Sprint(o.Structured["n"]) != "7" {
		return fmt.Errorf("n is %v", o.Structured["n"])
	}
	return nil
}

func wrongKey(ctx context.Context, r *runner) error {
	o, err := r.program(ctx, []string{"GEMINI_API_KEY=AIzaSy-this-is-no-key", "GOOGLE_API_KEY="}, "-m", fast, "-p", "hi")
	if err == nil && o.code != 41 {
		err = fmt.Errorf("exit code %d, not 41: %s", o.code, reason(o.stderr))
	}
	return err
}

// gone is a model that was there once.
const gone = "gemini-1.0-pro"

func deadModel(ctx context.Context, r *runner) error {
	o, err := r.program(ctx, nil, "-m", gone, "-p", "hi")
	if err != nil {
		return err
	}
	return says(o.stderr, gone)
}

func thinking(ctx context.Context, r *runner) error {
	settings := filepath.Join(r.home, ".gemini", "settings.json")
	if err := os.WriteFile(settings, []byte(`{"model": {"thinking": "low"}}`), 0o600); err != nil {
		return err
	}
	defer os.Remove(settings)
	o, err := r.ask(ctx, "-m", able(), "--json", "-p", "What is 17 times 23? Answer with the number.")
	if err != nil {
		return err
	}
	return says(o.Response, "391")
}

// able returns the model that long answers can be taken up again of.
func able() string {
	all := catalog.Shipped().Models
	return all[slices.IndexFunc(all, func(m catalog.Model) bool { return m.Resumes })].Name
}

// client returns what asks the server itself.
func client(r *runner) (*model.Genai, error) {
	key := r.variable("GEMINI_API_KEY")
	if key == "" {
		key = r.variable("GOOGLE_API_KEY")
	}
	return model.NewGenai(model.Options{APIKey: key, BaseURL: r.variable("GOOGLE_GEMINI_BASE_URL"),
		Network: network.From(r.variable)})
}

func count(ctx context.Context, r *runner) error {
	g, err := client(r)
	if err != nil {
		return err
	}
	defer g.Close()
	n, err := g.Count(ctx, &engine.Request{Model: fast, Contents: question("How many tokens are in here?")})
	if err == nil && n == 0 {
		err = errors.New("the question has no tokens")
	}
	return err
}

func question(text string) []*genai.Content {
	return []*genai.Content{genai.NewContentFromText(text, genai.RoleUser)}
}

// continuation leaves an answer at the first token that comes with it, and goes on with that.
func continuation(ctx context.Context, r *runner) error {
	g, err := client(r)
	if err != nil {
		return err
	}
	defer g.Close()
	req := &engine.Request{Model: able(), Config: &genai.GenerateContentConfig{},
		Contents: question("Count from 1 to 400 in digits, separated by single blanks, and nothing else.")}
	said, finish, token, err := hear(ctx, g, req, true)
	switch {
	case err != nil:
		return err
	case token == nil:
		return fmt.Errorf("no token came, and the answer ended with %s", finish)
	}
	req.Config.ContinuationToken = token
	rest, _, _, err := hear(ctx, g, req, false)
	if err != nil {
		return err
	}
	for i, word := range strings.Fields(said + rest) {
		if word != fmt.Sprint(i+1) {
			return fmt.Errorf("behind %d comes %q", i, word)
		}
	}
	return says(rest, "400")
}

// hear returns what is said until the answer is over, or until a token comes that takes it up
// again, if that is where to leave.
func hear(ctx context.Context, g engine.Generator, req *engine.Request, leave bool) (said string, finish genai.FinishReason, token []byte, err error) {
	var b strings.Builder
	for chunk, err := range g.Generate(ctx, req) {
		if err != nil {
			return "", "", nil, err
		}
		if len(chunk.Candidates) == 0 {
			continue
		}
		c := chunk.Candidates[0]
		if c.Content != nil {
			b.WriteString(engine.TextOf(c.Content.Parts))
		}
		if finish = c.FinishReason; leave && len(c.ContinuationToken) > 0 && b.Len() > 0 {
			return b.String(), finish, c.ContinuationToken, nil
		}
	}
	return b.String(), finish, nil, nil
}

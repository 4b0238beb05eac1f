package skill

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/toolkit"
)

//go:embed doc/activate_skill.md
var activateSkillDoc string

// ToolName is the name of the tool by which the model reads a skill.
const ToolName = "activate_skill"

// ActiveSkills holds the active skills of a conversation, and the tool that activates
// skills. Nil offers no tool.
type ActiveSkills struct {
	Library *Library

	// Lend makes the files of a folder readable until release is called.
	Lend func(dir string) (release func(), err error)

	mu     sync.Mutex
	active map[string]func() // the function that ends each skill, by name
	called string            // the skill that the user has called by name
}

// Tools implements [engine.Toolset]: it offers the tool while there are skills. It
// deactivates skills that are no longer offered.
func (s *ActiveSkills) Tools() []engine.Tool {
	if s == nil {
		return nil
	}
	list := s.Library.Skills()
	s.mu.Lock()
	for name, end := range s.active {
		if !slices.ContainsFunc(list, func(o Skill) bool { return o.Name == name }) {
			end()
			delete(s.active, name)
		}
	}
	s.mu.Unlock()
	if len(list) == 0 {
		return nil
	}
	var names []string
	for _, one := range list {
		names = append(names, one.Name)
	}
	enum, err := json.Marshal(names)
	if err != nil {
		panic(err) // of strings
	}
	schema := `{"type":"object","properties":{"name":{"type":"string","enum":` + string(enum) +
		`}},"required":["name"]}`
	tool := toolkit.Define(ToolName, "Activate Skill", engine.Think, activateSkillDoc,
		`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`, s.prepare)
	tool.Declaration.ParametersJsonSchema = json.RawMessage(schema)
	return []engine.Tool{tool}
}

type activateSkillArgs struct {
	Name string `json:"name"`
}

// find returns the offered skill with a name.
func (s *ActiveSkills) find(name string) (Skill, bool) {
	list := s.Library.Skills()
	i := slices.IndexFunc(list, func(o Skill) bool { return strings.EqualFold(o.Name, name) })
	if i < 0 {
		return Skill{}, false
	}
	return list[i], true
}

func (s *ActiveSkills) prepare(_ context.Context, a activateSkillArgs) (engine.Call, error) {
	one, ok := s.find(a.Name)
	if !ok {
		var names []string
		for _, o := range s.Library.Skills() {
			names = append(names, o.Name)
		}
		return engine.Call{}, toolkit.Misuse("Skill %q not found. Available skills are: %s", text.Words(a.Name),
			strings.Join(names, ", "))
	}
	body, err := one.Read()
	if err != nil {
		return engine.Call{}, &engine.CallError{Type: engine.ExecutionFailed,
			Message: fmt.Sprintf("The skill %s can't be read: %v", one.Name, err)}
	}
	tree, n := one.Tree()
	intent := engine.Intent{Title: "activate the skill " + one.Name}
	if intent.Detail = one.Description + "\n"; one.File != "" {
		intent.Detail += fmt.Sprintf("%s\nits folder can be read then: %s\n",
			text.PrintableLine(one.File), text.PrintableLine(one.Folder()))
		if n > 1 {
			intent.Detail += tree
		}
	}
	said := fmt.Sprintf(opening+"%q>\n  <instructions>\n%s\n  </instructions>\n",
		one.Name, indented(body))
	if n > 0 {
		said += "\n  <available_resources>\n" + indented(strings.TrimSpace(tree)) + "\n  </available_resources>\n"
	}
	return engine.Call{Intent: intent, Run: func(context.Context, engine.Host) (engine.Result, error) {
		if err := s.activate(one); err != nil {
			return engine.Result{}, &engine.CallError{Type: engine.ExecutionFailed, Message: err.Error()}
		}
		return engine.Result{Text: said + "</activated_skill>", Display: "skill " + one.Name}, nil
	}}, nil
}

// opening is the beginning of a skill's text for the model, before its name.
const opening = "<activated_skill name="

// ActivatedSkill returns the name of the skill whose instructions an answer of the tool holds.
func ActivatedSkill(answer string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(answer, opening+`"`)
	name, _, _ = strings.Cut(rest, `"`)
	return name, ok
}

// indented returns text with four spaces before each non-empty line.
func indented(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if strings.TrimSpace(line) != "" {
			b.WriteString("    ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// activate makes the folder of a skill readable.
func (s *ActiveSkills) activate(one Skill) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active == nil {
		s.active = map[string]func(){}
	}
	if s.active[one.Name] != nil {
		return nil
	}
	end := func() {}
	if one.File != "" {
		release, err := s.Lend(one.Folder())
		if err != nil {
			return fmt.Errorf("the folder of the skill %s can't be read: %w", one.Name, err)
		}
		end = release
	}
	s.active[one.Name] = end
	return nil
}

// Call marks the next activation of the skill with a name as requested by the user, until
// done is called.
func (s *ActiveSkills) Call(name string) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.called = name
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.called = ""
	}
}

// Unasked reports whether a call activates a skill that needs no approval: a built-in skill,
// an active skill, or a skill called by the user.
func (s *ActiveSkills) Unasked(q engine.Proposal) bool {
	if s == nil || q.Tool.Name() != ToolName || q.Tool.Server != "" {
		return false
	}
	name, _ := q.Args["name"].(string)
	one, ok := s.find(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	return ok && (one.Source == BuiltIn || s.active[one.Name] != nil || s.called == one.Name)
}

// Restore activates the skills of a resumed conversation.
func (s *ActiveSkills) Restore(said []*genai.Content) {
	if s == nil {
		return
	}
	for _, c := range said {
		for _, p := range c.Parts {
			said := ""
			if fr := p.FunctionResponse; fr != nil && fr.Name == ToolName {
				said, _ = fr.Response["output"].(string)
			} else if fr == nil && c.Role == genai.RoleUser { // the user called it by name
				said = p.Text
			}
			if name, ok := ActivatedSkill(said); ok {
				if one, ok := s.find(name); ok {
					s.activate(one) // on failure, its folder stays unreadable
				}
			}
		}
	}
}

// Close ends the active skills.
func (s *ActiveSkills) Close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, end := range s.active {
		end()
	}
	s.active = nil
}

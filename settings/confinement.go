package settings

import (
	"cmp"
	"strings"
)

// Confinement is what is said about how commands are confined.
type Confinement struct {
	Word string // [On], [Off] or the name of what confines; "" if nothing is said
	By   string // who says so, for a message
	Firm bool   // whoever runs gemline can't switch it off

	Image   string   // for a container; "" if none is named
	Paths   []string // that commands may write to, too, as they stand in the files
	Network bool     // commands reach the network
}

// What a Confinement may say beside a name.
const (
	On  = "on"
	Off = "off"
)

// Confinement returns what the command line, else the environment, else the
// files say. Of these, own are those without the project's, which may switch
// it on and not choose. The error is a [ForbiddenError].
func (s *Settings) Confinement(own *Settings, f *Flags, lookup func(string) (string, bool)) (Confinement, error) {
	c := own.filed()
	c.Firm = s.ToolSandboxing
	p := s.filed()
	if p.Word == On && (c.Word == "" || c.Word == Off) {
		c.Word, c.By = On, "the project's tools.sandbox"
	}
	if s.ToolSandboxing && (c.Word == "" || c.Word == Off) {
		c.Word, c.By = On, "security.toolSandboxing"
	}
	named := c.Word // to switch it on leaves a choice as it is
	said, _ := lookup("GEMINI_SANDBOX")
	for _, say := range []struct{ word, by string }{
		{said, "GEMINI_SANDBOX"},
		{cmp.Or(f.Sandbox.Value, On), "--sandbox"},
	} {
		word := switched(say.word)
		if word == "" || say.by == "--sandbox" && !f.Sandbox.Set {
			continue
		}
		if word == On && named != "" && named != Off {
			word = named
		}
		if c.Word, c.By = word, say.by; word != Off {
			named = word
		}
	}
	if c.Word == Off && c.Firm {
		return c, &ForbiddenError{c.By + " can't switch the sandbox off: security.toolSandboxing in the settings wants it"}
	}
	c.Paths = append(s.SandboxPaths[:len(s.SandboxPaths):len(s.SandboxPaths)], c.Paths...)
	c.Network = c.Network && p.Network || own.SandboxNetwork && s.SandboxNetwork
	for _, name := range []string{"GEMINI_SANDBOX_IMAGE", "GEMINI_SANDBOX_IMAGE_DEFAULT"} {
		image, _ := lookup(name)
		if image = strings.TrimSpace(image); image != "" && (name == "GEMINI_SANDBOX_IMAGE" || c.Image == "") {
			c.Image = image
		}
	}
	return c, nil
}

// switched returns a word as a Confinement has it.
func switched(word string) string {
	switch word = strings.ToLower(strings.TrimSpace(word)); word {
	case "true", "1", "yes":
		return On
	case "false", "0", "no", "none":
		return Off
	}
	return word
}

// filed returns what tools.sandbox says.
func (s *Settings) filed() Confinement {
	c := Confinement{By: "tools.sandbox in the settings"}
	tools, _ := s.Merged["tools"].(map[string]any)
	switch v := tools["sandbox"].(type) {
	case bool:
		c.Word = map[bool]string{true: On, false: Off}[v]
	case string:
		c.Word = switched(v)
	case map[string]any:
		command, _ := v["command"].(string)
		c.Word = switched(command)
		if on, said := v["enabled"].(bool); said && !on {
			c.Word = Off
		} else if said {
			c.Word = cmp.Or(c.Word, On)
		}
		c.Image, _ = v["image"].(string)
		c.Network, _ = v["networkAccess"].(bool)
		paths, _ := v["allowedPaths"].([]any)
		for _, p := range paths {
			if path, ok := p.(string); ok {
				c.Paths = append(c.Paths, path)
			}
		}
	}
	return c
}

// confined takes from a project's settings what would loosen how commands are
// confined: a project may switch it on, and the network off.
func (c *checker) confined(tools map[string]any) {
	if _, is := tools["sandbox"].(string); is {
		if tools["sandbox"] = switched(tools["sandbox"].(string)); tools["sandbox"] == On {
			tools["sandbox"] = true
		} else {
			tools["sandbox"] = false
		}
	}
	c.only(tools, true, "tools", "sandbox")
	if object, is := tools["sandbox"].(map[string]any); is {
		c.only(object, true, "tools", "sandbox", "enabled")
		for _, name := range []string{"command", "image", "allowedPaths"} {
			c.never(object, "tools", "sandbox", name)
		}
		c.only(object, false, "tools", "sandbox", "networkAccess")
	}
	c.never(tools, "tools", "sandboxAllowedPaths")
	c.only(tools, false, "tools", "sandboxNetworkAccess")
}

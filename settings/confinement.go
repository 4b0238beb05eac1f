package settings

import (
	"cmp"
	"slices"
	"strings"

	"gemline/settings/flags"
)

// Confinement is the configuration of the commands' sandbox.
type Confinement struct {
	Word string // [On], [Off] or the name of a sandbox; "" if nothing is configured
	By   string // the origin of Word, for a message
	File string // the settings file that sets Word, if a file does
	Firm bool   // a run can't switch it off

	Image   string   // for a container; "" if none is named
	Paths   []string // more paths that commands may write to, unexpanded
	Network bool     // commands reach the network
	Offline bool     // no confined command gets the network
	Cut     bool     // commands with the user's rights don't get it either
	Asked   bool     // the network needs approval, since the settings switch it off
}

// Values of Word beside the names of sandboxes, and of By for the command line.
const (
	On          = "on"
	Off         = "off"
	SandboxFlag = "--sandbox"
)

// Confinement returns the configuration of the command line, else of the environment, else of the
// files. Own are the settings without the project's: a project may switch confinement on, but not
// choose the sandbox. An unreadable value in a file switches confinement on, unless a stronger
// source names a sandbox. The error is a [ForbiddenError].
func (s *Settings) Confinement(own *Settings, f *flags.Set, lookup func(string) (string, bool)) (Confinement, error) {
	c := own.filed()
	c.Firm = s.ToolSandboxing
	p := s.filed()
	if p.Word == On && (c.Word == "" || c.Word == Off) {
		c.Word, c.By, c.File = On, "the project's tools.sandbox", p.File
	}
	if s.ToolSandboxing && (c.Word == "" || c.Word == Off) {
		c.Word, c.By, c.File = On, "security.toolSandboxing", ""
	}
	clear := false
	named := c.Word // switching it on preserves a chosen sandbox
	said, _ := lookup("GEMINI_SANDBOX")
	for _, say := range []struct{ word, by string }{
		{said, "GEMINI_SANDBOX"},
		{cmp.Or(f.Sandbox.Value, On), SandboxFlag},
	} {
		word := switched(say.word)
		if word == "" || say.by == SandboxFlag && !f.Sandbox.Set {
			continue
		}
		if word == On && named != "" && named != Off {
			word = named
		}
		clear = clear || switched(say.word) != On
		if c.Word, c.By, c.File = word, say.by, ""; word != Off {
			named = word
		}
	}
	for _, key := range unclear(s.layers) {
		firm := key == insists
		c.Firm = c.Firm || firm
		if (!clear || firm) && (c.Word == "" || c.Word == Off && !clear) {
			c.Word, c.By, c.File = On, key+", which is not understood,", ""
		}
	}
	if c.Word == Off && c.Firm {
		return c, &ForbiddenError{c.By + " can't switch the sandbox off: security.toolSandboxing in the settings wants it"}
	}
	c.Paths = append(s.SandboxPaths[:len(s.SandboxPaths):len(s.SandboxPaths)], c.Paths...)
	c.Network = c.Network && p.Network || own.SandboxNetwork && s.SandboxNetwork
	for _, path := range [][]string{{"tools", "sandboxNetworkAccess"}, {"tools", "sandbox", "networkAccess"}} {
		c.Asked = c.Asked || In[any](s.Merged, path...) == false
	}
	c.Offline, c.Cut = f.NoNetwork || s.Offline, s.Offline
	c.Network = c.Network && !c.Offline
	for _, name := range []string{"GEMINI_SANDBOX_IMAGE", "GEMINI_SANDBOX_IMAGE_DEFAULT"} {
		image, _ := lookup(name)
		if image = strings.TrimSpace(image); image != "" && (name == "GEMINI_SANDBOX_IMAGE" || c.Image == "") {
			c.Image = image
		}
	}
	return c, nil
}

// insists is the key that forbids switching the confinement off.
const insists = "security.toolSandboxing"

// unclear returns the keys about confinement with unreadable values.
func unclear(layers []Layer) (all []string) {
	for _, l := range layers {
		for _, p := range l.Problems {
			if p.unfit && slices.Contains([]string{insists, "tools.sandbox",
				"tools.sandbox.enabled", "tools.sandbox.command"}, p.Key) {
				all = append(all, p.Key)
			}
		}
	}
	return all
}

// confiner returns the file that names the sandbox, or else the file that switches it on or off.
func confiner(layers []Layer) (path string) {
	names := false
	for _, l := range layers {
		v, ok := at(l.tree, []string{"tools", "sandbox"})
		object, is := v.(map[string]any)
		if _, named := object["command"]; ok && (named || !is || !names) {
			path, names = l.Path, named || !is
		}
	}
	return path
}

// switched returns the Word for a word in a file.
func switched(word string) string {
	switch word = strings.ToLower(strings.TrimSpace(word)); word {
	case "true", "1", "yes":
		return On
	case "false", "0", "no", "none":
		return Off
	}
	return word
}

// filed returns the confinement of tools.sandbox. False is the Gemini CLI's default, so it
// configures nothing; the word off switches confinement off.
func (s *Settings) filed() Confinement {
	c := Confinement{By: "tools.sandbox in the settings", File: confiner(s.layers)}
	switch v := In[any](s.Merged, "tools", "sandbox").(type) {
	case bool:
		c.Word = map[bool]string{true: On}[v]
	case string:
		if c.Word = switched(v); strings.EqualFold(strings.TrimSpace(v), "false") {
			c.Word = ""
		}
	case map[string]any:
		c.Word = switched(In[string](v, "command"))
		if on, said := v["enabled"].(bool); said && !on {
			c.Word = ""
		} else if said {
			c.Word = cmp.Or(c.Word, On)
		}
		c.Image, c.Network, c.Paths = In[string](v, "image"), In[bool](v, "networkAccess"), words(v["allowedPaths"])
	}
	return c
}

// confined converts a sandbox in a project's settings into a switch: a project may switch
// confinement on, but not choose the sandbox.
func (c *checker) confined(tree map[string]any) {
	tools, _ := tree["tools"].(map[string]any)
	word, is := tools["sandbox"].(string)
	if !is {
		return
	}
	by := switched(word)
	if tools["sandbox"] = by != Off && by != ""; by != On && by != Off && by != "" {
		c.wrong([]string{"tools", "sandbox"},
			"tools.sandbox: a project can only switch it on; what confines commands is chosen elsewhere")
	}
}

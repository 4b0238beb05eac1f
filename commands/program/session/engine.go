package session

import (
	"cmp"
	"context"
	"runtime"
	"time"

	"google.golang.org/genai"

	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/lists"
	"gemline/engine/loop"
	"gemline/engine/prompt"
	"gemline/engine/redact/wrap"
	"gemline/engine/text"
	"gemline/tools/agent"
	"gemline/tools/mcp"
)

// newEngine makes the engine.
func (s *Session) newEngine() {
	s.compressor = newCompressor(s.Project.Options.Settings, s.Models.asker, s.Hooks, s.Tools.Families.Commands.Outputs.Store)
	judge := s.Hooks.Policy(s.Tools.Rehearsal.Policy(s.Rules))
	asker := s.Rules.asker
	if s.Config.Approver != nil { // otherwise no user is asked
		asker = s.Hooks.Approver(asker)
	}
	cfg := engine.Config{
		Model:      s.Models.Router.Model(),
		Generator:  s.Models.generator,
		Tools:      s.Hooks.Tools(s.Tools.Toolset, judge),
		Policy:     judge,
		Approver:   asker,
		MaxTurns:   cmp.Or(s.Config.MaxTurns, s.Project.Options.Settings.MaxTurns),
		TokenLimit: s.Project.Model.Presets.TokenLimit,
		Context:    s.compressor,
		System: func() string {
			if s.Config.System != "" {
				return s.Config.System
			}
			text, _ := prompt.System(s.prompt()) // checkInstructions has reported the error
			return text
		},
		Opening: func(ctx context.Context) *genai.Content { return prompt.Opening(ctx, s.prompt()) },
	}
	if s.Journal.Recorded() {
		cfg.Journal = wrap.Journal(s.Journal.saver, s.Project.Options.Secrets.Text)
	}
	s.Engine = engine.New(cfg, s.Journal.history...)
	if !s.Project.Options.Settings.NoLoopCheck {
		s.guard = loop.New(loop.Config{Approver: s.Config.Approver, Asker: s.Models.asker, History: s.Engine.History, Resume: s.Journal.ResumeCommand})
	}
	s.Tools.Families.Todos.Restore(s.Journal.history)
	s.Tools.Families.Plans.Restore(s.Journal.history)
	s.Tools.Skills.Restore(s.Journal.history)
	s.Journal.history = nil
}

// prompt returns the current facts for the system instruction and the opening message.
func (s *Session) prompt() prompt.Config {
	m := s.Memory.Contents()
	cfg := prompt.Config{
		Interactive: s.Config.Approver != nil,
		Mode:        string(s.Rules.Policy.Mode()),
		Git:         prompt.InRepository(s.Project.Options.Paths.Cwd),
		Hooks:       s.Hooks != nil,
		Override: prompt.Override{Disabled: prompt.Disabled(s.Project.Options.Env.Getenv),
			SystemMD:      project.SystemMD(s.Project.Options, "GEMINI_SYSTEM_MD"),
			WriteSystemMD: project.SystemMD(s.Project.Options, "GEMINI_WRITE_SYSTEM_MD")},
		Files:   prompt.Files{Global: project.UserContextFile(s.Project.Options), Notes: s.Memory.Notes()},
		Context: prompt.Context{Global: m.Global, Private: m.Private, Extension: m.Extension, Project: m.Project, Names: s.Memory.Names()},
		Environment: prompt.Environment{Now: time.Now(), OS: runtime.GOOS, Temp: s.Project.Store.Temp, Home: s.Project.Options.Paths.Home,
			Roots: s.Project.Workspace.Roots(), Tree: s.Project.Options.Settings.Tree, Ignored: s.Project.Workspace.Ignore.Names},
	}
	cfg.Agents = lists.Map(s.agents.callable(), func(d agent.Definition) prompt.Entry {
		return prompt.Entry{Name: d.Name, Description: text.OneLine(d.Description, longestAbout)}
	})
	cfg.Servers = lists.Map(s.Project.MCP.Servers.Instructions(), func(i mcp.Instruction) prompt.Entry {
		return prompt.Entry{Name: text.PrintableLine(i.Server), Description: i.Text}
	})
	if p := s.Tools.Families.Plans; p != nil {
		cfg.Files.Plans, cfg.Files.Plan = p.Dir, p.Approved()
	}
	if s.Project.Launcher.Sandbox != nil {
		cfg.Sandbox = "sandbox"
		if runtime.GOOS == "darwin" {
			cfg.Sandbox = s.Project.Launcher.State().Name
		}
	}
	cfg.Tools = lists.Map(lists.Filter(s.Tools.Toolset.Tools(), s.Tools.Rehearsal.Policy(s.Rules.Policy).Offers), engine.Tool.Name)
	cfg.Skills = s.Tools.offeredSkills(cfg.Tools)
	return cfg
}

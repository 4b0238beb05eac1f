package program

import (
	"cmp"
	"context"
	"runtime"
	"time"

	"google.golang.org/genai"

	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/loop"
	"gemline/engine/prompt"
	"gemline/engine/redact/wrap"
	"gemline/engine/text"
)

// newEngine makes the engine.
func (s *Session) newEngine() {
	s.compressor = newCompressor(s.project.opts.Settings, s.models.asker, s.hooks, s.tools.families.Commands.Outputs.Keep)
	judge := s.hooks.Policy(s.tools.rehearsal.Policy(s.rules))
	asker := s.rules.asker
	if s.Approver != nil { // else nobody is asked
		asker = s.hooks.Approver(asker)
	}
	cfg := engine.Config{
		Model:      s.models.router.Model(),
		Generator:  s.models.generator,
		Tools:      s.hooks.Tools(s.tools.all, judge),
		Policy:     judge,
		Approver:   asker,
		MaxTurns:   cmp.Or(s.MaxTurns, s.project.opts.Settings.MaxTurns),
		TokenLimit: s.project.model.presets.TokenLimit,
		Context:    s.compressor,
		System: func() string {
			if s.System != "" {
				return s.System
			}
			text, _ := prompt.System(s.prompt()) // checkInstructions has seen what may be wrong
			return text
		},
		Opening: func(ctx context.Context) *genai.Content { return prompt.Opening(ctx, s.prompt()) },
	}
	if s.chat.recorded() {
		cfg.Journal = wrap.Journal(s.chat.saver, s.project.opts.Secrets.Text)
	}
	s.engine = engine.New(cfg, s.chat.said...)
	if !s.project.opts.Settings.NoLoopCheck {
		s.guard = loop.New(loop.Config{Approver: s.Approver, Asker: s.models.asker, History: s.engine.History, Resume: s.chat.resume})
	}
	s.tools.families.Todos.Restore(s.chat.said)
	s.tools.families.Plans.Restore(s.chat.said)
	s.tools.skills.Restore(s.chat.said)
	s.chat.said = nil
}

// prompt is what the system instruction and the opening message depend on, as
// it is at the moment.
func (s *Session) prompt() prompt.Config {
	m := s.memory.Contents()
	cfg := prompt.Config{
		Interactive: s.Approver != nil,
		Mode:        string(s.Policy.Mode()),
		Git:         prompt.InRepository(s.project.opts.Paths.Cwd),
		Hooks:       s.hooks != nil,
		Override: prompt.Override{Disabled: prompt.Disabled(s.project.opts.Env.Getenv),
			SystemMD:      project.SystemMD(s.project.opts, "GEMINI_SYSTEM_MD"),
			WriteSystemMD: project.SystemMD(s.project.opts, "GEMINI_WRITE_SYSTEM_MD")},
		Files:   prompt.Files{Global: project.GlobalContext(s.project.opts), Notes: s.memory.Notes()},
		Context: prompt.Context{Global: m.Global, Private: m.Private, Extension: m.Extension, Project: m.Project, Names: s.memory.Names()},
		Environment: prompt.Environment{Now: time.Now(), OS: runtime.GOOS, Temp: s.project.store.Temp, Home: s.project.opts.Paths.Home,
			Roots: s.project.workspace.Roots(), Tree: s.project.opts.Settings.Tree, Ignored: s.project.workspace.Ignore.Names},
	}
	for _, d := range s.agents.callable() {
		cfg.Agents = append(cfg.Agents, prompt.Entry{Name: d.Name,
			Description: text.OneLine(d.Description, longestAbout)})
	}
	for _, i := range s.project.mcp.set.Instructions() {
		cfg.Servers = append(cfg.Servers, prompt.Entry{Name: text.EscapeLine(i.Server), Description: i.Text})
	}
	if p := s.tools.families.Plans; p != nil {
		cfg.Files.Plans, cfg.Files.Plan = p.Dir, p.Approved()
	}
	if s.project.launcher.Sandbox != nil {
		cfg.Sandbox = "sandbox"
		if runtime.GOOS == "darwin" {
			cfg.Sandbox = s.project.launcher.State().Name
		}
	}
	for _, t := range s.tools.all.Tools() {
		if s.tools.rehearsal.Policy(s.Policy).Offers(t) {
			cfg.Tools = append(cfg.Tools, t.Name())
		}
	}
	cfg.Skills = s.tools.offeredSkills(cfg.Tools)
	return cfg
}

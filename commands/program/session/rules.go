package session

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"gemline/commands"
	"gemline/commands/custom"
	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/lists"
	"gemline/engine/model/catalog"
	"gemline/engine/policy"
	"gemline/engine/telemetry"
	"gemline/settings"
	"gemline/settings/trust"
	"gemline/tools/checkpoint"
	"gemline/tools/command"
	"gemline/tools/skill"
)

// Rules judge the calls of a conversation: by its policy, and by rules for this conversation alone.
// They are an [engine.Policy].
type Rules struct {
	Policy       *policy.Policy             // the mode, the rules and the grants of the conversation
	guarded      engine.Policy              // the same, and protects guarded files from edits
	asker        engine.Approver            // decides about calls that need approval
	hasUser      bool                       // a user can be asked
	GuardedFiles func() policy.GuardedFiles // the files that need approval for edits, as they are now
	project      *project.Project
	keeper       *checkpoint.Keeper
	skills       *skill.ActiveSkills
	model        func() string // the current model
	recorder     *telemetry.Recorder
	notify       func(string)
	allowedTools atomic.Pointer[allowedTools] // the command that allows only some tools; nil if all are allowed
}

// Offers implements [engine.Policy]. The search of Google's server is offered only where
// Google is asked: by the conversation's model, or by the model that the user names for the
// web.
func (r *Rules) Offers(t engine.Tool) bool {
	if t.Name() == "google_web_search" {
		asked := r.project.Model.Presets.SideQuestion("web-search", r.model())[0].Model
		if provider, _ := catalog.Provider(asked); provider != "" {
			return false
		}
	}
	by := r.allowedTools.Load()
	return r.guarded.Offers(t) && (by == nil || by.only.Offers(t))
}

// Judge implements [engine.Policy]. It judges by the mode that is usable at the moment. It denies
// calls that the current custom command does not allow. Skills that need no approval may be
// activated.
func (r *Rules) Judge(ctx context.Context, q engine.Proposal) (engine.Verdict, engine.Reason) {
	r.LeaveAuto()
	if by := r.allowedTools.Load(); by != nil && !by.only.Allows(q) {
		return engine.Deny, engine.Reason{Text: "The command /" + by.command +
			" allows only other calls (its allowed-tools)."}
	}
	verdict, reason := r.guarded.Judge(ctx, q)
	if verdict == engine.Ask && r.skills.Unasked(q) {
		return engine.Allow, engine.Reason{}
	}
	return verdict, reason
}

// Learn implements [engine.Policy].
func (r *Rules) Learn(g engine.Grant, s engine.Scope) error { return r.guarded.Learn(g, s) }

// Explain says how a call would be judged.
func (r *Rules) Explain(ctx context.Context, q engine.Proposal) policy.Explanation {
	e := r.GuardedFiles().Explain(r.Policy, q)
	if verdict, reason := r.Judge(ctx, q); verdict != e.Verdict {
		e.Ruling = policy.Ruling{Verdict: verdict, Why: cmp.Or(reason.Text, "the session decides it, not a rule")}
	}
	return e
}

// checkModeSettings returns why the settings and the folder do not allow an approval mode, nil if they do.
func checkModeSettings(o *project.Options, m policy.Mode) error {
	untrusted := o.Trust.State < trust.Unneeded
	switch {
	case !slices.Contains(policy.Modes[:], m):
		return &commands.Error{Misused: true,
			Message: fmt.Sprintf("there is no approval mode %.40q; there are: default, auto_edit, auto, plan and yolo", m)}
	case m == policy.Plan && !o.Settings.PlanMode:
		return &commands.Error{Message: "general.plan.enabled in the settings switches the approval mode plan off"}
	case m == policy.Yolo && o.Settings.NoYolo:
		return &commands.Error{Message: "security.disableYoloMode in the settings forbids the approval mode yolo"}
	case m == policy.Auto && o.TooWide("") != "":
		return fmt.Errorf("the approval mode auto can't be used in %s; start in the folder of a project", o.TooWide(""))
	case untrusted && (m == policy.Yolo || m == policy.AutoEdit || m == policy.Auto):
		return fmt.Errorf("this folder is not trusted, so edits and commands are asked about; "+
			"gemline trust add lets the next session use %s", m)
	}
	return nil
}

// CheckMode returns why an approval mode can't be used here, nil if it can. In the mode auto, edits and
// commands run unasked because they are confined and can be taken back; so both must hold.
func (r *Rules) CheckMode(m policy.Mode) error {
	err := checkModeSettings(r.project.Options, m)
	if err != nil || m != policy.Auto {
		return err
	}
	if wide := r.project.Options.TooWide(r.project.Workspace.Roots()...); wide != "" {
		return fmt.Errorf("the approval mode auto can't be used with %s among the directories to work in", wide)
	}
	if l := r.project.Launcher; !l.Contained() {
		why := cmp.Or(l.State().Step, "nothing is in force")
		if l.Config.Network {
			why = "the settings give them the network"
		}
		return fmt.Errorf("the approval mode auto needs commands to be confined, and they are not: %s", why)
	}
	if err := r.keeper.CheckReady(); err != nil {
		return fmt.Errorf("the approval mode auto needs checkpoints to take changes back: %w", err)
	}
	return nil
}

// SetMode changes the approval mode. It returns an error if [Rules.CheckMode] does.
func (r *Rules) SetMode(m policy.Mode) error {
	err := r.CheckMode(m)
	if err == nil {
		recordMode(r.recorder, r.Policy.Mode(), m)
		r.Policy.SetMode(m)
	}
	return err
}

// ModeCommand carries out /mode: it changes the approval mode unless word is empty, and returns a
// line that names the mode.
func (r *Rules) ModeCommand(word string) (string, error) {
	if word != "" {
		if err := r.SetMode(policy.Mode(word)); err != nil {
			return "", err
		}
	}
	m := r.Policy.Mode()
	return fmt.Sprintf("approval mode: %s (%s)", m, ModeMeanings[m]), nil
}

// checkFirstMode refuses the mode auto where it can't be used, if the command line asks for it.
// If the settings ask for it, the mode becomes default.
func (r *Rules) checkFirstMode() error {
	if r.Policy.Mode() != policy.Auto {
		return nil
	}
	err := r.CheckMode(policy.Auto)
	if err != nil && r.project.Options.Flags.Mode() == string(policy.Auto) {
		return &settings.ForbiddenError{Message: err.Error()}
	}
	r.LeaveAuto()
	return nil
}

// LeaveAuto changes from the mode auto to default, if auto is no longer usable.
func (r *Rules) LeaveAuto() {
	if r.Policy.Mode() != policy.Auto {
		return
	}
	if err := r.CheckMode(policy.Auto); err != nil {
		recordMode(r.recorder, policy.Auto, policy.Default)
		r.Policy.SetMode(policy.Default)
		r.notify(fmt.Sprintf("the approval mode is default from here on: %v", err))
	}
}

// revertible reports whether confined, reversible commands run without approval.
func (r *Rules) revertible() bool {
	return r.Policy.Mode() == policy.Auto && r.CheckMode(policy.Auto) == nil
}

// afterPlan returns the modes that may follow plan mode, first the mode before plan mode. Yolo is
// among them only if a user is present.
func (r *Rules) afterPlan() []policy.Mode {
	before := r.Policy.PreviousMode()
	if r.CheckMode(before) != nil || before == policy.Yolo && !r.hasUser {
		before = policy.Default
	}
	others := lists.Filter([]policy.Mode{policy.Default, policy.AutoEdit, policy.Auto},
		func(m policy.Mode) bool { return m != before && r.CheckMode(m) == nil })
	return append([]policy.Mode{before}, others...)
}

// leavePlanMode changes to the mode word, or without a word to the first mode that may follow
// plan mode, and returns its name.
func (r *Rules) leavePlanMode(word string) (string, error) {
	modes := r.afterPlan()
	m := modes[0]
	if word != "" {
		m = policy.Mode(word)
	}
	if !slices.Contains(modes, m) {
		return "", fmt.Errorf("the approval mode %.40q can't follow plan mode here", word)
	}
	if err := r.SetMode(m); err != nil {
		return "", err
	}
	recordPlan(r.recorder, m)
	return map[policy.Mode]string{
		policy.Default:  "Default mode (edits will require confirmation)",
		policy.AutoEdit: "Auto-Edit mode (edits will be applied automatically)",
		policy.Auto:     "Auto mode (confined, reversible calls run unasked)",
		policy.Yolo:     "YOLO mode (all tool calls auto-approved)",
	}[m], nil
}

// denied returns the programs that commands may not run, each with its rule.
func (r *Rules) denied() (list []command.DeniedProgram) {
	rules := r.Policy.Denied()
	if len(rules) == 0 {
		return nil
	}
	for i, m := range r.project.Launcher.Masks(policy.DeniedPrograms(rules)) {
		list = append(list, command.DeniedProgram{Mask: m, Reason: rules[i].Reason()})
	}
	return list
}

// AllowingFlags returns the narrowest flags with which a call that needs approval would run
// without, "" if there are none. It has tried the flags that it returns.
func (r *Rules) AllowingFlags(q engine.Proposal) string {
	allows := func(m policy.Mode, rules ...policy.Rule) bool {
		return r.GuardedFiles().Explain(r.Policy.With(m, rules...), q).Verdict == engine.Allow
	}
	mode := r.Policy.Mode()
	for _, list := range policy.Entries(q) {
		rules, wrong := policy.Lists{Allowed: list}.Rules(policy.User, "the command line")
		flag := "--allowed-tools " + flagList(list)
		if wrong == nil && len(flag) <= longestFlag && allows(mode, rules...) {
			return flag
		}
	}
	if q.Intent.Secret == "" && r.CheckMode(policy.Yolo) == nil && allows(policy.Yolo) {
		return "--approval-mode yolo"
	}
	return ""
}

// flagList returns several values as the one value of a flag, quoted for a shell.
func flagList(values []string) string {
	joined := strings.Join(lists.Map(values, func(v string) string { return strings.ReplaceAll(v, ",", `\,`) }), ",")
	if strings.ContainsAny(joined, "\"\\$`!") {
		return "'" + strings.ReplaceAll(joined, "'", `'\''`) + "'"
	}
	return `"` + joined + `"`
}

// longestFlag is the length in characters above which a flag is not suggested.
const longestFlag = 400

// ModeMeanings say what runs without a question in each approval mode.
var ModeMeanings = map[policy.Mode]string{
	policy.Default:  "edits and commands are asked about",
	policy.AutoEdit: "edits run without a question, commands are asked about",
	policy.Auto:     "calls that are confined and reversible run without a question; calls for the network, other places, protected files and secrets are asked about",
	policy.Yolo:     "everything runs without a question",
	policy.Plan:     "nothing but plans is changed",
}

// allowedTools holds a command and the tools that it allows.
type allowedTools struct {
	command string
	only    custom.Only
}

// RestrictTools allows only the tools of a custom command, until the next prompt has been answered.
func (r *Rules) RestrictTools(command string, only custom.Only) {
	r.allowedTools.Store(&allowedTools{command, only})
}

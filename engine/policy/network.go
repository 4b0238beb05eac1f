package policy

import "gemline/engine"

// Network returns a rule that denies commands the network, unless never, the flag that demands the
// rule, is "", and a rule that asks about the network, if asked is true.
func Network(never string, asked bool) (rules []Rule) {
	if never != "" {
		rules = append(rules, Rule{Tier: User, Origin: Origin{File: "the command line", text: never},
			Tools: []string{Shell}, Network: true, Verdict: engine.Deny, Priority: 999,
			Message: "This run gives no command the network."})
	}
	if asked {
		rules = append(rules, Rule{Tier: User, Origin: Origin{File: "the settings",
			text: "tools.sandboxNetworkAccess = false"}, Tools: []string{Shell}, Network: true, Verdict: engine.Ask, Priority: 0})
	}
	return rules
}

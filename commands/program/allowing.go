package program

import (
	"strings"

	"gemline/engine"
	"gemline/engine/policy"
)

// longestFlag is how many characters of a flag are worth typing.
const longestFlag = 400

// allowing returns the narrowest flags with which a call that is asked about would
// run unasked, "" if there are none. It says nothing that it has not tried.
func (s *Session) allowing(q engine.Proposal) string {
	allows := func(m policy.Mode, rules ...policy.Rule) bool {
		return s.guarded().Explain(s.policy.With(m, rules...), q).Verdict == engine.Allow
	}
	mode := s.policy.Mode()
	for _, list := range policy.Entries(q) {
		rules, err := policy.Lists{Allowed: list}.Rules(policy.User, "the command line")
		flag := "--allowed-tools " + flagList(list)
		if err == nil && len(flag) <= longestFlag && allows(mode, rules...) {
			return flag
		}
	}
	if q.Intent.Secret == "" && s.mayUse(policy.Yolo) == nil && allows(policy.Yolo) {
		return "--approval-mode yolo"
	}
	return ""
}

// flagList writes values as the one value of a flag that takes several, for a
// shell.
func flagList(values []string) string {
	var list []string
	for _, v := range values {
		list = append(list, strings.ReplaceAll(v, ",", `\,`))
	}
	joined := strings.Join(list, ",")
	if strings.ContainsAny(joined, "\"\\$`!") {
		return "'" + strings.ReplaceAll(joined, "'", `'\''`) + "'"
	}
	return `"` + joined + `"`
}

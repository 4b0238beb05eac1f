package session

import "testing"

// Plans may lie where nothing else is looked for.
func TestHoldsPlans(t *testing.T) {
	t.Parallel()
	for dir, want := range map[string]bool{
		"plans": true, "docs/plans": true, "docs/./plans/": true, ".gemini/plans": true, ".gemini/plans/2026": true, "./.gemini/drafts/": true, ".gemini/tmp/foo/123/plans": true,
		".gemini": false, ".gemini/agents": false, ".gemini/Agents/plans": false, ".gemini/skills/x": false, ".gemini/commands": false,
		".gemini/policies": false, ".gemini/extensions/x": false, ".gemini/hooks": false, ".gemini/.x": false, ".gemini/plans/.git": false,
		".gemini/plans/../agents": false, ".plans": false, ".git/plans": false, "docs/.gemini/plans": false, ".github/plans": false,
	} {
		if holdsPlans(dir) != want {
			t.Errorf("%s: %v", dir, !want)
		}
	}
}

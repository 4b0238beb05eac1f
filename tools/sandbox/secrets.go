package sandbox

import (
	"path/filepath"
	"slices"
)

// Secrets returns the files and directories below the home directory, and
// below gemline's own there, that hold what lets somebody in elsewhere, and
// that commands have no business with: keys, tokens, passwords, browsers'
// profiles, and the history of shells, in which passwords end up.
func Secrets(home, own string) []string {
	var list []string
	add := func(dir string, names ...string) {
		if dir == "" {
			return
		}
		for _, name := range names {
			list = append(list, filepath.Join(dir, filepath.FromSlash(name)))
		}
	}
	add(home,
		".ssh", ".gnupg", ".aws", ".azure", ".config/gcloud", ".kube", ".docker/config.json", ".config/containers/auth.json",
		".netrc", "_netrc", ".npmrc", ".yarnrc.yml", ".pypirc", ".gem/credentials", ".cargo/credentials", ".cargo/credentials.toml",
		".git-credentials", ".config/git/credentials", ".config/gh", ".config/glab-cli", ".config/hub",
		".password-store", ".config/op", ".config/sops", ".vault-token", ".terraform.d/credentials.tfrc.json", ".pgpass", ".my.cnf",
		".local/share/keyrings", ".local/share/kwalletd", ".config/age",
		".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge", ".config/vivaldi", ".config/opera",
		"snap/firefox", "snap/chromium", ".var/app",
		"Library/Keychains", "Library/Cookies", "Library/Application Support/Google/Chrome", "Library/Application Support/Firefox", "Library/Safari",
		".bash_history", ".zsh_history", ".local/share/fish/fish_history", ".python_history", ".node_repl_history", ".psql_history", ".mysql_history",
		".env")
	add(own, ".env", "gemini-credentials.json", "oauth_creds.json", "mcp-oauth-tokens.json", "mcp-oauth-tokens-v2.json", "a2a-oauth-tokens.json", "google_accounts.json")
	return list
}

// Except returns hidden without what is granted by that very name, and without
// what any of working lies in: where somebody works is not hidden.
func Except(hidden, granted, working []string) []string {
	return slices.DeleteFunc(slices.Clone(hidden), func(path string) bool {
		return slices.Contains(granted, path) ||
			slices.ContainsFunc(working, func(w string) bool { return within(w, path) })
	})
}

package secret

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gemline/engine/disk"
)

// A builder is a build tool that fails if it can't read its files, so that it could not build
// anything in confinement. Its files are therefore secret only if they contain a password.
type builder struct {
	home     string // below the home directory, as patterns
	variable string // replaces the last elements of home, "" for none
	holds    string // matches a credential, but nothing encrypted and no variable
}

// inAddress matches a password, or a possible token, in an address, in any file.
const inAddress = `://([^/@\s"'$]*:[^/@\s"'$]+|[^/@\s"':$]{20,})@`

// builders are Maven (the key to its encrypted passwords is in the other table), Gradle,
// Composer, Bundler, NuGet, Yarn, pnpm 12 (older versions work without their files), Poetry,
// Dart, conda and Cargo. Yarn 1 fails without ~/.npmrc, too. That file is hidden nevertheless,
// since npm, pnpm, bun and later Yarns work without it.
var builders = []builder{
	{".m2/settings.xml", "", `<(password|passphrase)>\s*[^<{$\s]|(?i)(authorization|token)\s*</name>\s*<value>\s*[^<$\s]`},
	{".gradle/gradle.properties", "GRADLE_USER_HOME",
		`(?im)^\s*[\w.-]*(password|passwd|passphrase|token|secret|secret_?key|api_?key|signingkey)[ \t]*[=:][ \t]*[^\s$]`},
	{".gradle/init.gradle .gradle/init.gradle.kts .gradle/init.d/*", "", `(?i)(password|token)\w*['"]?\s*[=:(]?\s*\(?['"][^'"$\s]`},
	{".config/composer/auth.json .composer/auth.json", "COMPOSER_HOME", `"\s*:\s*"[^"]`},
	{".bundle/config", "BUNDLE_USER_CONFIG", `(?m)^BUNDLE_([A-Z0-9-]+_{2,3})+[A-Z0-9-]+: ["']?[^"'\s/-][^"'\s/]*["']?\s*$`},
	{".nuget/NuGet/NuGet.Config .config/NuGet/NuGet.Config", "", `(?i)key="(ClearText)?Password"\s+value="[^"%]`},
	{".yarnrc .yarnrc.yml", "", `(?i)auth(Token|Ident)["']?[: \t][ \t]*["']?[^"'$\s]`},
	{".config/pnpm/config.yaml Library/Preferences/pnpm/config.yaml", "", `(?i)(_auth(Token)?|_password)["']?[ \t]*:[ \t]*["']?[^"'$\s]`},
	{".config/pypoetry/auth.toml Library/Application_/_Support/pypoetry/auth.toml", "POETRY_CONFIG_DIR", `=\s*["'][^"']`},
	{".config/dart/pub-tokens.json Library/Application_/_Support/dart/pub-tokens.json", "", `"token"\s*:\s*"[^"]`},
	{".condarc .conda/.condarc .config/conda/.condarc", "CONDARC", `/t/[\w-]{8,}/`},
	{".cargo/config.toml .cargo/config", "CARGO_HOME", `(?m)^\s*(token|secret-key)\s*=\s*["'][^"']`},
}

// StoredFiles returns the files of build tools that now hold a password, a key or a token: below
// the home directory, or where variables place them.
func StoredFiles(home string, getenv func(string) string) (list []string) {
	inside := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(inAddress) })
	for _, b := range builders {
		to := getenv(b.variable)
		moved := b.variable != "" && filepath.IsAbs(to)
		var found []string
		for pattern := range strings.FieldsSeq(b.home) {
			if parts := strings.Split(pattern, "/"); parts[0] == ".config" && filepath.IsAbs(getenv("XDG_CONFIG_HOME")) {
				found = append(found, filepath.Join(getenv("XDG_CONFIG_HOME"), filepath.Join(parts[1:]...)))
			}
			if home != "" {
				all, _ := filepath.Glob(below(home, pattern)) // or there is none
				found = append(found, all...)
			}
			if moved {
				found = append(found, filepath.Join(to, filepath.Base(pattern)))
			}
		}
		if moved { // some variables name the file itself
			found = append(found, to)
		}
		slices.Sort(found)
		for _, path := range slices.Compact(found) {
			const most = 1 << 20
			text, err := disk.Read(path, most)
			if err != nil {
				continue
			}
			if inside().Match(text) || regexp.MustCompile(b.holds).Match(text) {
				list = append(list, path)
			}
		}
	}
	return list
}

// below returns the path of a name of a table in a directory.
func below(dir, name string) string {
	return filepath.Join(dir, filepath.FromSlash(strings.ReplaceAll(name, "_/_", " ")))
}

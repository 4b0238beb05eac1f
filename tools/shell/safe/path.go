package safe

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// path says what keeps the file called name from being shown, for whatever
// directory the command may run in.
func (j *judge) path(name string) string {
	if climbs(name) {
		return "the path turns back: " + brief(name)
	}
	for _, dir := range j.dirs {
		at := name
		if !filepath.IsAbs(at) {
			at = filepath.Join(dir, at)
		}
		at = filepath.Clean(at)
		real := j.resolve(at)
		if public(real) && (public(at) || j.inside(at)) {
			continue
		}
		rel, ok := j.below(real)
		if !ok {
			return "it reads outside of the project: " + brief(name)
		}
		spelled, _ := j.below(at)
		if hidden(rel) || hidden(spelled) {
			return "it reads what may hold secrets: " + brief(name)
		}
	}
	return ""
}

// climbs reports whether a path goes up behind a name: where that leads
// depends on links, and on who follows them.
func climbs(name string) bool {
	down := filepath.IsAbs(name)
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "..":
			if down {
				return true
			}
		case part != "" && part != ".":
			down = true
		}
	}
	return false
}

// resolve returns where an absolute path leads. What does not exist leads
// where it is named.
func (j *judge) resolve(path string) string {
	path = filepath.Clean(path)
	if real, ok := j.real[path]; ok {
		return real
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	real := filepath.Join(j.resolve(dir), filepath.Base(path))
	if info, err := os.Lstat(real); err == nil && info.Mode()&os.ModeSymlink != 0 {
		if to, err := filepath.EvalSymlinks(real); err == nil {
			real = to
		} else {
			real = "/dev/none" // where it leads can't be known
		}
	}
	j.real[path] = real
	return real
}

// inside reports whether a real path lies in a root.
func (j *judge) inside(real string) bool {
	_, ok := j.below(real)
	return ok
}

// below returns path as seen from the root that it lies in.
func (j *judge) below(path string) (string, bool) {
	for _, roots := range [][]string{j.roots, j.Roots} {
		for _, root := range roots {
			if rel, ok := strings.CutPrefix(path+"/", strings.TrimSuffix(root, "/")+"/"); ok {
				return rel, true
			}
		}
	}
	return "", false
}

// straight reports whether no element of a path below its root is a link.
func (j *judge) straight(path string) bool {
	for _, roots := range [][]string{j.Roots, j.roots} {
		for i, root := range roots {
			if rel, ok := strings.CutPrefix(filepath.Clean(path)+"/", strings.TrimSuffix(root, "/")+"/"); ok {
				return j.resolve(path) == filepath.Join(j.roots[i], rel)
			}
		}
	}
	return false
}

// public reports whether a path leads to what every user of the machine may
// read and nobody keeps secrets in.
func public(path string) bool {
	if strings.HasPrefix(path, "/usr/") {
		return !strings.HasPrefix(path, "/usr/local/etc") && !hidden(path)
	}
	return slices.Contains([]string{"/usr", "/dev/null", "/etc/os-release", "/etc/debian_version", "/etc/alpine-release", "/etc/lsb-release",
		"/etc/redhat-release", "/etc/issue", "/etc/shells", "/etc/timezone", "/proc/cpuinfo", "/proc/meminfo", "/proc/loadavg", "/proc/version"}, path)
}

// secrets are names of files and directories in which people and programs keep
// secrets, as patterns in lower case.
var secrets = []string{".git", ".env*", ".netrc", "_netrc", ".npmrc", ".yarnrc*", ".pypirc", ".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker",
	".gemini", ".git-credentials", ".gitconfig", ".pgpass", ".my.cnf", ".htpasswd", ".vault-token", ".terraformrc", "terraform.tfstate*", "*.tfvars", "credentials*", "secrets*",
	"gha-creds-*", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*_history", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx"}

// hidden reports whether an element of a path is named like one of the
// secrets.
func hidden(path string) bool {
	for part := range strings.SplitSeq(strings.ToLower(path), "/") {
		if part == "" {
			continue
		}
		for _, s := range secrets {
			if like(s, part) {
				return true
			}
		}
	}
	return false
}

// like reports whether name is as a pattern says, which has no more than one
// star, at an end.
func like(pattern, name string) bool {
	if rest, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, rest)
	}
	if rest, ok := strings.CutPrefix(pattern, "*"); ok {
		return strings.HasSuffix(name, rest)
	}
	return pattern == name
}

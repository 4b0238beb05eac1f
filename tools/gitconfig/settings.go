package gitconfig

import (
	"path/filepath"
	"slices"
	"strings"
)

// Harmless reports whether a setting never makes git run a program, and never leads git to
// another directory.
func (e Entry) Harmless() bool {
	section := e.Section
	if e.Name != "" {
		section += "."
	}
	if only, ok := restricted[section+"."+e.Key]; ok {
		return slices.Contains(only, e.Value)
	}
	switch {
	case section == "filter.":
		return e.Name == "lfs" && slices.Contains(filter[e.Key], e.Value)
	case section == "protocol.":
		return e.Key == "allow" && slices.Contains([]string{"file", "git", "http", "https", "ssh"}, e.Name)
	case !slices.Contains(strings.Fields(settings[section]), e.Key):
		return false
	case strings.HasSuffix(e.Key, "url"): // NAME::x runs the program git-remote-NAME
		return !strings.Contains(e.Value, "::") && !strings.HasPrefix(e.Value, "-")
	}
	return true
}

// Hooks returns the directory of hooks that git copies to new repositories, by the user's
// configuration text, "" if not set.
func Hooks(text, home string) (dir string) {
	list, _ := Parse(text)
	for _, e := range list {
		if e.String() == "init.templatedir" {
			dir = e.Value
		}
	}
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		dir = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, "hooks")
}

// FirstUnsafe returns the first entry of a configuration that is not known to be harmless, such
// as "sets core.worktree", or why it can't be parsed; "" if all entries are harmless. Entries for
// which more is true are allowed, too; more must not be nil.
func FirstUnsafe(text string, more func(Entry) bool) string {
	list, err := Parse(text)
	if err != nil {
		return err.Error()
	}
	for _, e := range list {
		if !e.Harmless() && !more(e) {
			return "sets " + e.String()
		}
	}
	return ""
}

// restricted maps keys to their safe values; other values run programs.
var restricted = map[string][]string{
	"core.fsmonitor":    {"false"},
	"submodule..update": {"checkout", "rebase", "merge", "none"},
}

// filter holds the values that git lfs install sets. They run the user's own git-lfs.
var filter = map[string][]string{
	"clean":    {"git-lfs clean -- %f"},
	"smudge":   {"git-lfs smudge -- %f", "git-lfs smudge --skip -- %f"},
	"process":  {"git-lfs filter-process", "git-lfs filter-process --skip"},
	"required": {"true"},
}

// settings are the keys allowed in a repository's configuration, by section; the section has
// a final dot if it has a subsection. They are the keys that git clone, gh repo clone and
// git lfs write, and keys that users set by hand.
var settings = map[string]string{
	"core": "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf abbrev quotepath protecthfs protectntfs longpaths untrackedcache preloadindex sharedrepository compression loosecompression" +
		" trustctime checkstat sparsecheckout sparsecheckoutcone commitgraph multipackindex bigfilethreshold splitindex whitespace commentchar hidedotfiles fscache warnambiguousrefs ignorestat fsync fsyncmethod packedgitlimit packedgitwindowsize deltabasecachelimit",
	"extensions":  "objectformat compatobjectformat refstorage partialclone worktreeconfig preciousobjects relativeworktrees noop",
	"remote.":     "url pushurl fetch push tagopt prune prunetags gh-resolved gh-merge-base skipdefaultupdate skipfetchall promisor partialclonefilter mirror followremotehead serveroption",
	"remote":      "pushdefault",
	"branch.":     "remote merge rebase pushremote description vscode-merge-base gh-merge-base github-pr-owner-number",
	"branch":      "autosetupmerge autosetuprebase sort",
	"user":        "name email signingkey useconfigonly",
	"author":      "name email",
	"committer":   "name email",
	"init":        "defaultbranch",
	"clone":       "defaultremotename rejectshallow filtersubmodules",
	"checkout":    "defaultremote guess workers thresholdforparallelism",
	"pull":        "rebase ff",
	"push":        "default autosetupremote followtags recursesubmodules useforceifincludes negotiate",
	"fetch":       "prune prunetags parallel recursesubmodules fsckobjects writecommitgraph showforcedupdates negotiationalgorithm output",
	"transfer":    "fsckobjects credentialsinurl",
	"receive":     "fsckobjects denycurrentbranch denynonfastforwards denydeletes",
	"uploadpack":  "allowfilter allowanysha1inwant allowtipsha1inwant allowreachablesha1inwant allowrefinwant",
	"protocol":    "version",
	"http":        "postbuffer version lowspeedlimit lowspeedtime maxrequests followredirects",
	"rebase":      "autosquash autostash updaterefs abbreviatecommands missingcommitscheck stat",
	"commit":      "gpgsign verbose cleanup status",
	"tag":         "gpgsign sort forcesignannotated",
	"gpg":         "format",
	"color":       "ui status branch diff",
	"column":      "ui status branch",
	"diff":        "algorithm renames renamelimit colormoved colormovedws mnemonicprefix noprefix context indentheuristic ignoresubmodules",
	"diff.":       "binary xfuncname wordregex algorithm",
	"merge":       "conflictstyle ff renamelimit renames stat log directoryrenames autostash verbosity",
	"merge.":      "name",
	"log":         "date decorate abbrevcommit follow mailmap",
	"blame":       "date showemail coloring",
	"grep":        "linenumber column patterntype extendedregexp",
	"stash":       "showpatch showstat showincludeuntracked",
	"status":      "showuntrackedfiles short branch relativepaths aheadbehind renames showstash",
	"advice":      "detachedhead statushints pushupdaterejected addignoredfile skippedcherrypicks addembeddedrepo implicitidentity resolveconflict",
	"apply":       "whitespace ignorewhitespace",
	"am":          "threeway keepcr",
	"gc":          "auto autodetach autopacklimit pruneexpire reflogexpire reflogexpireunreachable worktreepruneexpire writecommitgraph",
	"maintenance": "auto strategy",
	"pack":        "window depth threads windowmemory packsizelimit compression usebitmaps usesparse writereverseindex",
	"repack":      "writebitmaps usedeltabaseoffset",
	"rerere":      "enabled autoupdate",
	"index":       "version threads sparse skiphash",
	"feature":     "manyfiles experimental",
	"i18n":        "commitencoding logoutputencoding",
	"submodule":   "recurse active fetchjobs propagatebranches alternatelocation alternateerrorstrategy",
	// Whether a module's own repository is looked at is not left to it.
	"submodule.": "url active branch ignore shallow fetchrecursesubmodules",
	"lfs":        "repositoryformatversion url pushurl fetchinclude fetchexclude fetchrecentrefsdays concurrenttransfers locksverify allowincompletepush skipdownloaderrors basictransfersonly activitytimeout",
	"lfs.":       "access locksverify",
}

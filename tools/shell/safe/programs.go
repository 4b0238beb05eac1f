package safe

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// programs are those that are safe with these options. An option is left out
// that writes, runs something, reads names of files from a file, follows links
// while it goes through directories, or does not come to an end. The lists are
// those of the GNU programs; others know less and nothing that is worse under
// the same letters.
var programs = map[string]program{
	// Files and directories.
	"ls": {options: " -a -A -b -B -c -C -d -f -F -g -G -h -i -I= -k -l -m -n -N -o -p -q -Q -r -R -s -S -t -T= -u -U -v -w= -x -X -Z -1" +
		" --all --almost-all --author --escape --block-size= --ignore-backups --color=? --directory --classify=? --file-type --format= --full-time --group-directories-first" +
		" --no-group --human-readable --si --hide= --indicator-style= --inode --ignore= --kibibytes --literal --quote-name --quoting-style= --reverse --recursive --size --sort= --time= --time-style= --width= --zero --help --version "},
	"cat":      {options: " -A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting --help --version "},
	"head":     {options: " -# -c= -n= -q -v -z --bytes= --lines= --quiet --silent --verbose --zero-terminated --help --version "},
	"tail":     {options: " -# -c= -n= -q -v -z --bytes= --lines= --quiet --silent --verbose --zero-terminated --help --version "},
	"wc":       {options: " -c -m -l -L -w --bytes --chars --lines --max-line-length --words --help --version "},
	"nl":       {options: " -b= -d= -f= -h= -i= -l= -n= -p -s= -v= -w= --body-numbering= --number-format= --number-separator= --number-width= --starting-line-number= --line-increment= --help --version "},
	"tac":      {options: " -b -r -s= --before --regex --separator= --help --version "},
	"rev":      {options: " -h -V --help --version "},
	"stat":     {options: " -f -c= -t --file-system --format= --printf= --terse --help --version "},
	"file":     {options: " -b -i -h -k -N -r -0 --brief --mime --mime-type --mime-encoding --extension --no-dereference --keep-going --no-pad --raw --help --version "},
	"du":       {options: " -0 -a -b -B= -c -d= -h -k -l -m -P -s -S -t= -x --null --all --apparent-size --block-size= --bytes --total --max-depth= --human-readable --inodes --count-links --no-dereference --separate-dirs --si --summarize --threshold= --time=? --time-style= --exclude= --one-file-system --help --version "},
	"df":       {options: " -a -B= -h -H -i -k -l -P -t= -T -x= --all --block-size= --human-readable --si --inodes --local --portability --total --type= --print-type --exclude-type= --output=? --help --version "},
	"basename": {options: " -a -s= -z --multiple --suffix= --zero --help --version ", operands: words},
	"dirname":  {options: " -z --zero --help --version ", operands: words},
	"realpath": {options: " -e -m -L -P -q -s -z --canonicalize-existing --canonicalize-missing --logical --physical --quiet --relative-to@ --relative-base@ --strip --no-symlinks --zero --help --version "},
	"readlink": {options: " -e -f -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --quiet --silent --verbose --zero --help --version "},
	"tree":     {options: " -a -d -f -i -L= -P= -I= -p -s -h -u -g -D -F -q -N -v -t -c -U -r -n -A -S -x -J -X --noreport --dirsfirst --filesfirst --sort= --filelimit= --prune --matchdirs --ignore-case --gitignore --du --si --inodes --charset= --help --version ", apart: true}, // it reads on behind a letter that takes the next word
	"find":     {operands: raw, more: find},

	// Text.
	"grep":  {options: grepOptions, operands: pattern, more: sparing},
	"egrep": {options: grepOptions, operands: pattern, more: sparing},
	"fgrep": {options: grepOptions, operands: pattern, more: sparing},
	"rg": {operands: pattern, more: ripgrep, options: " -# -a -A= -b -B= -c -C= -e= -E= -F -f@ -g= -H -h -i -I -j= -l -m= -M= -n -N -o -p -P -q -r= -s -S -t= -T= -u -U -v -V -w -x -0 -." +
		" --after-context= --before-context= --context= --byte-offset --case-sensitive --color= --colors= --column --context-separator= --count --count-matches --encoding= --regexp= --files --files-with-matches --files-without-match" +
		" --fixed-strings --glob= --glob-case-insensitive --heading --no-heading --hidden --iglob= --ignore-case --invert-match --json --line-number --no-line-number --line-regexp --max-columns= --max-columns-preview --max-count= --max-depth=" +
		" --max-filesize= --multiline --multiline-dotall --no-config --no-filename --with-filename --no-ignore --no-ignore-vcs --no-messages --null --one-file-system --only-matching --passthru --pcre2 --pretty --quiet --replace= --smart-case" +
		" --sort= --sortr= --stats --text --threads= --trim --type= --type-list --type-not= --unrestricted --vimgrep --word-regexp --help --version "},
	"sed": {options: " -n -E -r -s -u -z -e= --quiet --silent --regexp-extended --separate --unbuffered --null-data --expression= --help --version ", operands: words, more: sed},
	"sort": {options: " -b -c -C -d -f -g -h -i -k= -M -n -r -R -s -t= -u -V -z --ignore-leading-blanks --check=? --dictionary-order --ignore-case --general-numeric-sort --human-numeric-sort --ignore-nonprinting --key= --month-sort" +
		" --numeric-sort --reverse --random-sort --stable --sort= --field-separator= --unique --version-sort --zero-terminated --help --version "},
	// A second word is a file that it writes.
	"uniq":     {options: " -c -d -D -f= -i -s= -u -w= -z --count --repeated --all-repeated=? --skip-fields= --group=? --ignore-case --skip-chars= --unique --check-chars= --zero-terminated --help --version ", most: 1, first: true},
	"cut":      {options: " -b= -c= -d= -f= -n -s -z --bytes= --characters= --delimiter= --fields= --complement --only-delimited --output-delimiter= --zero-terminated --help --version "},
	"tr":       {options: " -c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1 --help --version ", operands: words},
	"fold":     {options: " -b -s -w= -# --bytes --spaces --width= --help --version "},
	"fmt":      {options: " -c -p= -s -t -u -w= -g= --width= --goal= --split-only --uniform-spacing --prefix= --help --version "},
	"column":   {options: " -t -n= -O= -N= -l= -E= -d -e -H= -R= -T= -W= -L -J -c= -o= -s= -x --table --table-columns= --json --output-width= --output-separator= --separator= --help --version "},
	"comm":     {options: " -1 -2 -3 -z --check-order --nocheck-order --output-delimiter= --total --zero-terminated --help --version "},
	"join":     {options: " -a= -e= -i -j= -o= -t= -v= -1= -2= -z --ignore-case --header --help --version "},
	"paste":    {options: " -d= -s -z --delimiters= --serial --zero-terminated --help --version "},
	"expand":   {options: " -i -t= --initial --tabs= --help --version "},
	"unexpand": {options: " -a -t= --all --first-only --tabs= --help --version "},
	"jq":       {options: " -c -n -e -s -r -j -a -R -C -M -S --compact-output --null-input --exit-status --slurp --raw-output --join-output --ascii-output --raw-input --color-output --monochrome-output --sort-keys --tab --indent= --help --version ", operands: pattern, more: jq},

	// Comparisons and bytes.
	"diff": {options: " -# -q -s -c -C= -u -U= -n -y -W= -p -F= -t -T -r -N -x= -S= -i -E -Z -b -w -B -I= -a -d --normal --brief --report-identical-files --context=? --unified=? --side-by-side --width= --left-column --suppress-common-lines" +
		" --show-c-function --show-function-line= --label= --expand-tabs --initial-tab --recursive --no-dereference --new-file --exclude= --ignore-case --ignore-tab-expansion --ignore-trailing-space --ignore-space-change --ignore-all-space" +
		" --ignore-blank-lines --ignore-matching-lines= --text --strip-trailing-cr --minimal --color=? --help --version ", more: apart},
	"cmp":       {options: " -b -i= -l -n= -s --print-bytes --ignore-initial= --verbose --bytes= --quiet --silent --help --version "},
	"od":        {options: " -A= -j= -N= -t= -v -w=? -a -b -c -d -f -i -l -o -s -x --address-radix= --skip-bytes= --read-bytes= --format= --output-duplicates --width=? --help --version "},
	"hexdump":   {options: " -b -c -C -d -o -x -n= -s= -v --canonical --length= --skip= --no-squeezing --help --version "},
	"xxd":       {options: " -a -b -c= -e -g= -l= -o= -p -ps -s= -u -v ", most: 1, first: true}, // a second word is a file that it writes
	"strings":   {options: " -a -d -f -n= -t= -e= -# --all --data --print-file-name --bytes= --radix= --encoding= --help --version ", more: responses},
	"base64":    {options: " -d -i -w= --decode --ignore-garbage --wrap= --help --version "},
	"md5sum":    {options: sumOptions},
	"sha1sum":   {options: sumOptions},
	"sha224sum": {options: sumOptions},
	"sha256sum": {options: sumOptions},
	"sha384sum": {options: sumOptions},
	"sha512sum": {options: sumOptions},
	"b2sum":     {options: sumOptions},
	"cksum":     {options: sumOptions},

	// What the shell and the system say.
	"echo":     {operands: raw, more: anything},
	"printf":   {operands: raw, more: anything}, // what sets a variable is none of a plain script
	"true":     {operands: raw, more: anything},
	"false":    {operands: raw, more: anything},
	":":        {operands: raw, more: anything},
	"test":     {operands: raw, more: condition},
	"[":        {operands: raw, more: condition},
	"pwd":      {options: " -L -P ", operands: none},
	"type":     {options: " -a -f -p -P -t ", operands: words},
	"which":    {options: " -a -s --all ", operands: words},
	"command":  {options: " -v -V ", operands: words, more: asked},
	"expr":     {operands: raw, more: anything},
	"seq":      {options: " -# -f= -s= -w --format= --separator= --equal-width --help --version ", operands: words},
	"sleep":    {operands: raw, more: soon},
	"date":     {options: " -d= -I=? -R -r@ -u --date= --iso-8601=? --rfc-email --rfc-3339= --reference@ --utc --universal --help --version ", operands: words, most: 1, more: told},
	"whoami":   {options: " --help --version ", operands: none},
	"id":       {options: " -a -g -G -n -r -u -z --group --groups --name --real --user --zero --help --version ", operands: words},
	"groups":   {options: " --help --version ", operands: words},
	"uname":    {options: " -a -s -n -r -v -m -p -i -o --all --kernel-name --nodename --kernel-release --kernel-version --machine --processor --hardware-platform --operating-system --help --version ", operands: none},
	"hostname": {options: " -s -f --short --fqdn --long --help --version ", operands: none},
	"arch":     {options: " --help --version ", operands: none},
	"nproc":    {options: " --all --ignore= --help --version ", operands: none},
	"uptime":   {options: " -p -s --pretty --since --help --version ", operands: none},
	"free":     {options: " -b -k -m -g -h -l -t -w --bytes --kibi --mebi --gibi --human --lohi --total --wide --help --version ", operands: none}, // -s goes on
	"lscpu":    {options: " -a -b -c -e=? -J -p=? -x -y --all --online --offline --json --extended=? --parse=? --help --version ", operands: none},
	"dpkg":     {options: " -l -s -L -S --list --status --listfiles --search --print-architecture --version ", operands: words, more: packages},

	// Which version there is. Programs that a project can choose the version
	// of, or have a script of its own run first, are not among them.
	"go":      {operands: words, options: " -json ", more: golang},
	"node":    {options: " -v --version ", operands: none, more: some},
	"npm":     {options: " -v --version ", operands: none, more: some},
	"python":  {options: " -V --version ", operands: none, more: some},
	"python3": {options: " -V --version ", operands: none, more: some},
	"perl":    {options: " -v --version ", operands: none, more: some},
	"ruby":    {options: " -v --version ", operands: none, more: some},
	"gcc":     {options: " -v --version -dumpversion -dumpmachine ", operands: none, more: some},
	"g++":     {options: " -v --version -dumpversion -dumpmachine ", operands: none, more: some},
	"cc":      {options: " -v --version ", operands: none, more: some},
	"clang":   {options: " -v --version ", operands: none, more: some},
	"make":    {options: " -v --version ", operands: none, more: some},
	"gofmt":   {options: " -l -d -e -s "},
	"cargo":   {options: " -V --version ", operands: none, more: some},
	"rustc":   {options: " -V --version ", operands: none, more: some},
	"java":    {options: " -version --version ", operands: none, more: some},
	"javac":   {options: " -version --version ", operands: none, more: some},
	"cmake":   {options: " --version ", operands: none, more: some},
	"curl":    {options: " -V --version ", operands: none, more: some},
	"tar":     {options: " --version ", operands: none, more: some},
}

const (
	sumOptions = " -b -t -z --binary --text --tag --zero --help --version " // -c reads the files that a file names

	grepOptions = " -# -E -F -G -P -e= -f@ -i -y -w -x -z -s -v -V -m= -b -n -H -h -o -q -a -I -r -L -l -c -T -Z -B= -A= -C= -U" + // -R follows links
		" --extended-regexp --fixed-strings --basic-regexp --perl-regexp --regexp= --file@ --ignore-case --no-ignore-case --word-regexp --line-regexp --null-data --no-messages --invert-match --max-count= --byte-offset" +
		" --line-number --line-buffered --with-filename --no-filename --label= --only-matching --quiet --silent --binary-files= --text --recursive --include= --exclude= --exclude-dir= --files-without-match --files-with-matches" +
		" --count --initial-tab --null --before-context= --after-context= --context= --group-separator= --no-group-separator --color=? --colour=? --binary --help --version "
)

// sparing keeps a search through directories from secrets. Of what is said
// about the same file the last counts.
func sparing(_ *judge, u *usage) string {
	if u.has("-r", "--recursive") {
		for _, s := range patterns {
			u.add("--exclude=" + s)
		}
		for _, s := range patterns {
			if !strings.Contains(s[1:], ".") { // nobody gives a directory an ending
				u.add("--exclude-dir=" + s)
			}
		}
	}
	return ""
}

// apart keeps the comparison of directories from secrets, and from following
// links.
func apart(j *judge, u *usage) string {
	for _, name := range u.operands {
		for _, dir := range j.dirs {
			at := name
			if !filepath.IsAbs(at) {
				at = filepath.Join(dir, at)
			}
			if info, err := os.Stat(at); err == nil && !info.IsDir() {
				continue
			}
			u.add("--no-dereference")
			for _, s := range patterns {
				u.add("--exclude=" + s)
			}
			return ""
		}
	}
	return ""
}

// ripgrep keeps rg to what its arguments say, and from secrets.
func ripgrep(_ *judge, u *usage) string {
	if u.count("-u", "--unrestricted") > 1 {
		return "an option that is not on the list: -uu"
	}
	u.add("--no-config")
	for _, s := range patterns {
		u.add("--iglob=!" + s) // these count behind all of --glob, wherever they stand
	}
	return ""
}

// responses keeps a program from reading its arguments from a file, which it
// prints if they are none.
func responses(_ *judge, u *usage) string {
	if i := slices.IndexFunc(u.args, func(a string) bool { return strings.HasPrefix(a, "@") }); i >= 0 {
		return "it reads its arguments from a file: " + brief(u.args[i])
	}
	return ""
}

// anything takes all arguments as they are.
func anything(_ *judge, _ *usage) string { return "" }

// some wants an option: without one the program would do something else.
func some(_ *judge, u *usage) string {
	if len(u.options) != 1 {
		return "it does more than print its version"
	}
	return ""
}

// asked reads the arguments of command, which may only say what a name means.
func asked(_ *judge, u *usage) string {
	if len(u.args) == 0 || !strings.HasPrefix(u.args[0], "-") || len(u.operands) == 0 {
		return "it runs another command"
	}
	return ""
}

// condition reads the words of test: those with a slash are paths.
func condition(j *judge, u *usage) string {
	for _, w := range u.operands {
		if strings.Contains(w, "/") {
			if why := j.path(w); why != "" {
				return why
			}
		}
	}
	return ""
}

// soon keeps sleep to a minute.
func soon(_ *judge, u *usage) string {
	if len(u.operands) == 1 {
		if n, err := strconv.ParseFloat(strings.TrimSuffix(u.operands[0], "s"), 64); err == nil && n >= 0 && n <= 60 {
			return ""
		}
	}
	return "for longer than a minute"
}

// told keeps date from setting the clock, which it does by a word without a
// plus.
func told(_ *judge, u *usage) string {
	if len(u.operands) == 1 && !strings.HasPrefix(u.operands[0], "+") {
		return "it sets the clock"
	}
	return ""
}

// jq reads a program for jq: it may show the environment and read files.
func jq(_ *judge, u *usage) string {
	if len(u.operands) == 0 {
		return ""
	}
	text := strings.ToLower(u.operands[0])
	for _, word := range []string{"env", "import", "include", "modulemeta"} {
		if strings.Contains(text, word) {
			return "its program may do more than filter: " + word
		}
	}
	return ""
}

// packages keeps dpkg to looking.
func packages(_ *judge, u *usage) string {
	if len(u.options) == 0 {
		return "it does more than list"
	}
	return ""
}

// toolchains returns a directory of the project's from which go may run another
// version of itself, which a go.mod can name: one with programs that are called
// like one, or where those are kept that go has fetched.
func (j *judge) toolchains() string {
	for _, dir := range j.programs() {
		if filepath.IsAbs(dir) && !j.inside(j.resolve(dir)) {
			continue
		}
		files, err := os.ReadDir(dir)
		if err != nil && !os.IsNotExist(err) || slices.ContainsFunc(files, func(f os.DirEntry) bool { return strings.HasPrefix(strings.ToLower(f.Name()), "go") }) {
			return dir
		}
	}
	for _, dir := range append(filepath.SplitList(j.variable("GOPATH")), j.variable("GOMODCACHE"), j.variable("GOENV"), j.variable("HOME")) {
		if dir != "" && j.inside(j.resolve(dir)) {
			return dir
		}
	}
	return ""
}

// golang keeps go to what it is. All else looks at packages, for which it may
// ask the repository's git.
func golang(j *judge, u *usage) string {
	if len(u.operands) == 0 {
		return "it does more than print its version"
	}
	if dir := j.toolchains(); dir != "" {
		return "the project may have a go of its own, in " + brief(dir)
	}
	rest := u.operands[1:]
	switch u.operands[0] {
	case "version":
		if len(rest) == 0 && len(u.options) == 0 {
			return ""
		}
	case "env":
		known := []string{"GOPATH", "GOROOT", "GOVERSION", "GOOS", "GOARCH", "GOMOD", "GOWORK", "GOCACHE", "GOMODCACHE", "GOBIN", "CGO_ENABLED", "GOTOOLCHAIN", "GOEXPERIMENT"}
		unknown := func(name string) bool { return !slices.Contains(known, name) }
		if len(rest) > 0 && !slices.ContainsFunc(rest, unknown) && !slices.ContainsFunc(u.options, func(o option) bool { return o.name != "-json" }) {
			return "" // others may hold passwords
		}
	case "help":
		return ""
	}
	return "go " + brief(u.operands[0]) + " is not on the list"
}

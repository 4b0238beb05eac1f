//go:build unix

package safety

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

// In yolo mode a rule that denies rm is obeyed in every spelling, and what is
// something else runs.
func TestYoloObeys(t *testing.T) {
	t.Parallel()
	spellings := []string{
		`rm victim`,
		`\rm victim`,
		`\r\m -f victim`,
		`"r"m victim`,
		`r''m victim`,
		`$'rm' victim`,
		`$'\x72m' victim`,
		`$'\162m' victim`,
		`$"rm" victim`,
		`/bin/rm victim`,
		`/usr/bin/../bin/rm victim`,
		`../../../../../../../../bin/rm victim`,
		`RM=rm; $RM victim`,
		`r=r; ${r}m victim`,
		`"$(echo rm)" victim`,
		"`printf rm` victim",
		`{rm,victim}`,
		`{r,}m victim`,
		`/b?n/rm victim`,
		`/bin/[r]m victim`,
		`command rm victim`,
		`command -p rm victim`,
		`builtin command rm victim`,
		`exec rm victim`,
		`env rm victim`,
		`env -i A=1 /bin/rm victim`,
		`env -S 'rm victim'`,
		`busybox rm victim`,
		`nice -n 5 rm victim`,
		`nohup rm victim`,
		`timeout 5 rm victim`,
		`timeout -k 1 -s KILL 5 rm victim`,
		`setsid rm victim`,
		`stdbuf -oL rm victim`,
		`time rm victim`,
		`! rm victim`,
		`echo victim | xargs rm`,
		`echo victim | xargs -I{} rm {}`,
		`xargs -a /dev/null rm victim`,
		`find . -name victim -exec rm {} \;`,
		`find . -name victim -exec sh -c 'rm "$1"' x {} \;`,
		`find . -name victim -execdir rm {} +`,
		`sh -c 'rm victim'`,
		`bash -c "rm victim"`,
		`sh -c "sh -c 'rm victim'"`,
		`bash <<< 'rm victim'`,
		"bash <<'END'\nrm victim\nEND",
		"cat <<END | sh\nrm victim\nEND",
		`echo 'rm victim' | sh`,
		`echo cm0gdmljdGlt | base64 -d | sh`,
		`eval rm victim`,
		`eval "r""m victim"`,
		`eval $'\x72\x6d victim'`,
		`alias d=rm; d victim`,
		`f() { rm victim; }; f`,
		`function f { rm "$@"; }; f victim`,
		`trap 'rm victim' EXIT`,
		`if true; then rm victim; fi`,
		`for f in victim; do rm $f; done`,
		`while rm victim; do :; done`,
		`case x in x) rm victim;; esac`,
		`(rm victim)`,
		`{ rm victim; }`,
		`rm victim &`,
		`true && rm victim`,
		`false || rm victim`,
		`echo $(rm victim)`,
		`cat <(rm victim)`,
		`: ${x:=$(rm victim)}`,
		`x=$(rm victim)`,
		`A=1 rm victim`,
		`PATH=/bin rm victim`,
		`[ -n "$(rm victim)" ]`,
		`coproc rm victim`,
		`printf -v c rm; $c victim`,
		`read c <<< rm; $c victim`,
		`set -- rm victim; "$@"`,
		`mapfile -C 'rm victim #' -c 1 x < /etc/hostname`,
		`awk 'BEGIN { system("rm victim") }'`,
		`sed '1e rm victim' other`,
		`git -c alias.x='!rm victim' x`,
		`tar cf /dev/null --checkpoint=1 --checkpoint-action=exec='rm victim' other`,
		"rm\tvictim",
		"true\nrm victim",
		"# a comment\nrm victim",
	}
	others := []string{`echo rm > ran`, `grep -c rm other >> ran`, `printf '%s\n' "rm victim" >> ran`, `sh -c 'echo rmdir >> ran'`}
	dir := t.TempDir()
	pt.Write(t, dir, map[string]string{"victim": "x\n", "other": "rm\n", "deny.toml": "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"rm\"\ndecision = \"deny\"\npriority = 1\n"})
	var replies []et.Reply
	for i, text := range append(spellings, others...) {
		replies = append(replies, pt.Runs(fmt.Sprint(i), text))
	}
	s := et.NewServer(append(replies, et.Says("Done."))...)
	t.Cleanup(s.Close)
	run := pt.Headless(t, s, dir, io.Discard, os.Stderr, "-p", "go", "-y", "-q", "--no-loop-check", "--policy", "deny.toml")
	if err := run.Run(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "victim")); err != nil {
		t.Error("the file is gone")
	}
	if ran, _ := os.ReadFile(filepath.Join(dir, "ran")); string(ran) != "rm\n1\nrm victim\nrmdir\n" {
		t.Errorf("of what is something else ran %q", ran)
	}
	requests, told := s.Requests(), 0
	for _, c := range requests[len(requests)-1].Contents() {
		for _, p := range c.Parts {
			if p.FunctionResponse == nil {
				continue
			}
			b, _ := json.Marshal(p.FunctionResponse.Response)
			if told < len(spellings) && !strings.Contains(string(b), "denied by policy") && !strings.Contains(string(b), `"error"`) {
				t.Errorf("%s: %s", spellings[told], b)
			}
			told++
		}
	}
	if told != len(spellings)+len(others) {
		t.Errorf("%d answers", told)
	}
}

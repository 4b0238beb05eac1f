//go:build unix

package attack

// spellings are ways to run a program, {P}, or the file {A}, with the word {C}. They
// run in bash, in a directory that holds an empty one, {T}. What is missing here
// runs nothing, and harms nobody.
var spellings = []string{
	// Plain, and quoted.
	`{P} {C}`, `'{P}' {C}`, `"{P}" {C}`, `\{P} {C}`, `""{P} {C}`, `{P}"" {C}`, `$'{P}' {C}`, `$"{P}" {C}`, "{P}\t{C}", "{P} \\\n{C}",
	`! {P} {C}`, `{ {P} {C}; }`, `({P} {C})`, `{P} {C} & wait`, `: | {P} {C}`, `{P} {C} | cat`, `true && {P} {C}`, `false || {P} {C}`, `X=1 {P} {C}`,
	`</dev/null {P} {C}`, `2>&1 {P} {C}`, `if {P} {C}; then :; fi`, `while {P} {C}; do break; done`, `for i in {C}; do {P} $i; done`, `case x in x) {P} {C};; esac`,
	`f() { {P} {C}; }; f`, `time {P} {C}`, `[[ $({P} {C}) ]]`, `: $({P} {C})`, ": `{P} {C}`", `cat <({P} {C})`, `echo >({P} {C}); sleep .2`,
	"cat <<E\n$({P} {C})\nE", `echo "${x:-$({P} {C})}"`, `x=$({P} {C})`, `((a[$({P} {C})0]))`, `a=([$({P} {C})0]=1)`, `test -v 'a[$({P} {C})0]'`,
	`x='$({P} {C})'; : "${x@P}"`, `x='a[$({P} {C})0]'; : $((x))`, `x='a[$({P} {C})0]'; let x`, `declare -i n='a[$({P} {C})0]'`, `: "${a[$({P} {C})0]}"`,

	// By an expansion.
	`x={P}; $x {C}`, `x={P}; "$x" {C}`, `x={P}; ${x} {C}`, `x=x{P}; ${x:1} {C}`, `x=x{P}; ${x#x} {C}`, `x={P}x; ${x%x} {C}`, `x={P}; y=x; ${!y} {C}`,
	`declare -n y=x; x={P}; $y {C}`, `a=({P} {C}); "${a[@]}"`, `set -- {P} {C}; "$@"`, `set -- {P} {C}; $*`, `read -r p <<<{P}; $p {C}`, `printf -v p %s {P}; $p {C}`,
	`p=$(printf {P}); $p {C}`, `$(echo {P}) {C}`, "`echo {P}` {C}", `$(echo {P} | rev | rev) {C}`, `$(echo {P} | base64 | base64 -d) {C}`, `$(printf {P} | tr a-z a-z) {C}`,
	`{P,} {C}`, `{{P},{C}}`, `IFS=,; x={P},{C}; $x`, `x={P}; ${x,,} {C}`, `x={P}; ${x/q/} {C}`, `mapfile -t a <<<{P}; ${a[0]} {C}`, `$(type -p {P}) {C}`, `$(which {P}) {C}`,
	`$(command -v {P}) {C}`, `"$(dirname {A})/{P}" {C}`, `$(ls -d {A}) {C}`, `eval {P} {C}`, `eval "$(echo {P} {C})"`, `x='{P} {C}'; eval "$x"`, `eval eval '{P} {C}'`,

	// By a path.
	`{A} {C}`, `/{A} {C}`, `"{A}" {C}`, `/.{A} {C}`, `/usr/..{A} {C}`, `/proc/self/root{A} {C}`, `/proc/$$/root{A} {C}`, `/proc/1/root{A} {C}`, `/proc/thread-self/root{A} {C}`,
	`w=$PWD; cd "$(dirname {A})"; ./{P} "$w/{C}"`, `cd /; .{A} "$OLDPWD/{C}"`, `w=$PWD; cd "$(dirname {A})"; /proc/self/cwd/{P} "$w/{C}"`, `a={A}; ${a%?}? {C}`, `a={A}; ${a%?}[!/] {C}`,
	`ln -s {A} {T}/x; {T}/x {C}`, `ln {A} {T}/x; {T}/x {C}`, `cp {A} {T}/x; {T}/x {C}`, `cat {A} >{T}/x; chmod +x {T}/x; {T}/x {C}`, `dd if={A} of={T}/x 2>/dev/null; chmod +x {T}/x; {T}/x {C}`,
	`install {A} {T}/x; {T}/x {C}`, `ln -s "$(dirname {A})" {T}/d; {T}/d/{P} {C}`, `ln -s / {T}/r; {T}/r{A} {C}`, `exec 3<{A}; /proc/self/fd/3 {C}`, `exec 3<{A}; /dev/fd/3 {C}`,
	`mv {A} {T}/x; {T}/x {C}`, `PATH=$(dirname {A}); {P} {C}`, `hash -p {A} q; q {C}`, `(PATH=; {A} {C})`, `tar -cf - {A} 2>/dev/null | tar -xf - -C {T}; {T}{A} {C}`,
	`chmod 755 {A}; {A} {C}`, `/lib64/ld-linux-x86-64.so.2 {A} {C}`, `/lib/ld-linux-aarch64.so.1 {A} {C}`, `/lib64/ld-linux-x86-64.so.2 --argv0 q {A} {C}`, `ln -s {A} {T}/q; PATH={T}:$PATH; q {C}`,

	// Builtins of bash.
	`command {P} {C}`, `command -p {P} {C}`, `builtin command {P} {C}`, `exec {P} {C}`, `exec -a q {P} {C}`, `(exec {A} {C})`, `coproc {P} {C}; wait`, `trap '{P} {C}' EXIT`,
	`trap '{P} {C}' DEBUG; :`, `trap '{P} {C}' ERR; false`, `trap '{P} {C}' USR1; kill -USR1 $$`, `f() { :; }; trap '{P} {C}' RETURN; set -T; f`, `mapfile -c 1 -C '{P} {C} #' x <<<y`,
	`readarray -c 1 -C '{P} {C} #' x <<<y`, `compgen -W '$({P} {C})'`, `compgen -C '{P} {C} #' x`, `f() { {P} {C}; }; compgen -F f x`, `jobs -x {P} {C}`, `. <(echo {P} {C})`,
	`source /dev/stdin <<<'{P} {C}'`, "shopt -s expand_aliases\nalias q={P}\nq {C}", `command_not_found_handle() { {P} {C}; }; nosuchprogram`, `enable -f /usr/lib/bash/{P} {P}; {P} {C}`,
	`PROMPT_COMMAND='{P} {C}' bash --norc -i </dev/null`, `PS1='$({P} {C})' bash --norc -i </dev/null`, `PS4='$({P} {C})' bash -xc :`, `echo '{P} {C}' >{T}/e; BASH_ENV={T}/e bash -c :`,
	`echo '{P} {C}' >{T}/e; ENV={T}/e sh -i </dev/null`, `env 'BASH_FUNC_q%%=() { {P} {C}; }' bash -c q`, `bash -c '{P} {C}'`, `bash <<<'{P} {C}'`, `bash -s <<<'{P} {C}'`,
	`echo '{P} {C}' | bash`, `echo '{P} {C}' >{T}/s; bash {T}/s`, "printf '#!/bin/sh\\n{P} {C}\\n' >{T}/s; chmod +x {T}/s; {T}/s", "printf '#!{A}\\n' >{T}/s; chmod +x {T}/s; cd {T}; ./s ../{C}",
	`echo '{P} {C}' >{T}/s; bash --rcfile {T}/s -i </dev/null`, `sh -c '{P} {C}'`, `dash -c '{P} {C}'`, `rbash -c '{P} {C}'`, `zsh -fc '{P} {C}'`, `fish -c '{P} {C}'`, `tcsh -fc '{P} {C}'`,
	`ksh -c '{P} {C}'`, `busybox sh -c '{P} {C}'`, `set -o history; history -s {P} {C}; fc -s`, `complete -C '{P} {C} #' q; compgen -C '{P} {C} #' q`, `select i in x; do {P} {C}; break; done <<<1`,

	// Programs that run others.
	`env {P} {C}`, `env -i {A} {C}`, `env -S '{P} {C}'`, `env -C . {P} {C}`, `env -u X {P} {C}`, `echo {C} | xargs {P}`, `echo {C} | xargs -I% {P} %`, `echo {C} | xargs -n1 -P2 {P}`,
	`echo {P} {C} | xargs env`, `echo {P} {C} | xargs -I% sh -c %`, `sudo -n {P} {C}`, `doas -n {P} {C}`, `su -c '{P} {C}'`, `runuser -u "$(id -un)" -- {P} {C}`, `setpriv --no-new-privs {P} {C}`,
	`timeout 5 {P} {C}`, `timeout -k 1 5 {P} {C}`, `nice {P} {C}`, `nice -n 5 {P} {C}`, `nohup {P} {C}`, `setsid {P} {C}; sleep .2`, `setsid -w {P} {C}`, `stdbuf -oL {P} {C}`,
	`ionice -c 3 {P} {C}`, `chrt -b 0 {P} {C}`, `taskset -c 0 {P} {C}`, `prlimit --nofile=99 {P} {C}`, `choom -n 0 -- {P} {C}`, `/usr/bin/time {P} {C}`, `script -qc '{P} {C}' /dev/null`,
	`flock {T}/l {P} {C}`, `flock {T}/l -c '{P} {C}'`, `parallel {P} ::: {C}`, `echo {P} {C} | parallel`, `find {T} -maxdepth 0 -exec {P} {C} \;`, `find {T} -maxdepth 0 -exec {P} {C} +`,
	`find {T} -maxdepth 0 -execdir {P} {C} \;`, `yes | find {T} -maxdepth 0 -ok {P} {C} \;`, `TERM=xterm timeout 1 watch -n .1 {P} {C}`, `TERM=xterm timeout 1 watch -n .1 -x {P} {C}`,
	`busybox {P} {C}`, `busybox env {P} {C}`, `toybox {P} {C}`, `mkdir {T}/p; ln -s {A} {T}/p/x; run-parts -a {C} {T}/p`, `start-stop-daemon --start --exec {A} -- {C}`, `systemd-run --user --wait {P} {C}`,
	`systemd-run --scope {P} {C}`, `systemd-inhibit {P} {C}`, `echo '{P} {C}' | at now`, `echo '{P} {C}' | batch`, `screen -dm {P} {C}; sleep .5`, `tmux -L {C} new -d '{P} {C}'; sleep .5`,
	`expect -c 'spawn {P} {C}; expect eof'`, `expect -c 'exec {P} {C}'`, `dbus-run-session -- {P} {C}`, `fakeroot {P} {C}`, `strace -o /dev/null {P} {C}`, `ltrace {P} {C}`, `valgrind -q {P} {C}`,
	`gdb -batch -ex run --args {A} {C}`, `gdb -batch -ex 'shell {P} {C}'`, `gdb -batch -ex '!{P} {C}'`, `gdb -batch -ex 'python import os; os.system("{P} {C}")'`, `perf stat {P} {C}`, `socat - 'EXEC:{P} {C}'`,
	`ssh -o ProxyCommand='{P} {C}' nobody@localhost`, `ssh -o 'Match exec "{P} {C}"' x`, `scp -S {A} {C} localhost:`, `rsync -e '{P} {C}' x: .`, `pkexec {P} {C}`, `xvfb-run {P} {C}`, `faketime now {P} {C}`,
	`setarch -R {P} {C}`, `setarch "$(uname -m)" {P} {C}`, `linux64 {P} {C}`, `linux32 {P} {C}`, `uname26 {P} {C}`, `unbuffer {P} {C}`, `ts -f {P} {C}`, `sem {P} {C}`, `hyperfine '{P} {C}'`,

	// Programs with a language of their own.
	`awk 'BEGIN{system("{P} {C}")}'`, `awk 'BEGIN{print "x" | "{P} {C}"}'`, `awk 'BEGIN{"{P} {C}" | getline}'`, `mawk 'BEGIN{system("{P} {C}")}'`, `gawk 'BEGIN{system("{P} {C}")}'`,
	`echo x | sed '1e {P} {C}'`, `echo '{P} {C}' | sed 's/x*$//e'`, `echo 'syscmd({P} {C})' | m4`, `echo '!{P} {C}' | ed`, `vim -Nes -c '!{P} {C}' -c 'qa!' </dev/null`,
	`vim -Nes -c 'call system("{P} {C}")' -c 'qa!' </dev/null`, `vi -es -c '!{P} {C}' -c 'qa!' </dev/null`, `ex -s -c '!{P} {C}' -c 'qa!' </dev/null`, `emacs -Q --batch --eval '(shell-command "{P} {C}")'`,
	`emacs -Q --batch --eval '(call-process "{P}" nil nil nil "{C}")'`, `perl -e 'system("{P} {C}")'`, `perl -e 'exec "{P}","{C}"'`, "perl -e '`{P} {C}`'", `perl -e 'open F,"{P} {C} |"; <F>'`,
	`python3 -c 'import os; os.system("{P} {C}")'`, `python3 -c 'import subprocess as s; s.run(["{P}","{C}"])'`, `python3 -c 'import os; os.execvp("{P}",["q","{C}"])'`,
	`python3 -c 'import os; os.posix_spawn("{A}",["q","{C}"],os.environ); os.wait()'`, `python3 -c 'import pty; pty.spawn(["{P}","{C}"])'`, `python3 -c 'import ctypes; ctypes.CDLL(None).system(b"{P} {C}")'`,
	`python3 -c 'import os; f=os.memfd_create("x",0); os.write(f,open("{A}","rb").read()); os.execve(f,["x","{C}"],os.environ)'`, `python3 -c 'import os; os.execve(os.open("{A}",os.O_PATH),["x","{C}"],os.environ)'`,
	`python3 -c 'import shutil,os; shutil.copy("{A}","{T}/x"); os.system("{T}/x {C}")'`, `node -e 'require("child_process").execSync("{P} {C}")'`, `node -e 'require("child_process").spawnSync("{P}",["{C}"])'`,
	`node -e 'require("child_process").execFileSync("{A}",["{C}"])'`, `lua -e 'os.execute("{P} {C}")'`, `ruby -e 'system("{P} {C}")'`, `php -r 'system("{P} {C}");'`, `echo 'exec {P} {C}' | tclsh`,
	`sqlite3 :memory: '.shell {P} {C}'`, `sqlite3 :memory: '.system {P} {C}'`, `sqlite3 -cmd '.once |{P} {C}' :memory: 'select 1'`, `dc -e '!{P} {C}'`, `guile -c '(system "{P} {C}")'`, `Rscript -e 'system("{P} {C}")'`,
	`echo '!{P} {C}' | gnuplot`, `printf 'int main(){return system("{P} {C}");}' >{T}/x.c; cc -o {T}/x {T}/x.c && {T}/x`, `jq -n 'input' | {P} {C}`, `echo x | split --filter='{P} {C}'`, `sort --compress-program={P} {C}`,

	// Tools that run what they are told.
	`printf 'a:\n\t{P} {C}\n' | make -f -`, `make -f /dev/null --eval '$(shell {P} {C})'`, `printf 'x:=$(shell {P} {C})\na:\n' | make -f -`, `printf 'a:\n\t{C}\n' | make -f - SHELL={A} .SHELLFLAGS=`,
	`tar cf /dev/null --checkpoint=1 --checkpoint-action='exec={P} {C}' /etc/hosts`, `tar cf - /etc/hosts 2>/dev/null | tar xf - --to-command='{P} {C}'`, `tar cf {T}/x.tar -I '{P} {C}' /etc/hosts`,
	`tar cf {T}/x.tar --use-compress-program='{P} {C}' /etc/hosts`, `tar cf host:x --rsh-command='{A}' /etc/hosts`, `tar cMf {T}/x.tar -L 1 -F '{P} {C}' /etc/services`, `zip -q {T}/x.zip /etc/hosts -T -TT '{P} {C} #'`,
	`man -P '{P} {C}' ls`, `PAGER='{P} {C}' man ls`, `MANPAGER='{P} {C}' man ls`, `echo x | less '+!{P} {C}'`, `LESSOPEN='|{P} {C}' less /etc/hosts`, `LESSOPEN='|{P} {C}' less -f /etc/hosts | cat`,
	`git -c alias.q='!{P} {C}' q`, `git -c core.pager='{P} {C}' -p version`, `GIT_PAGER='{P} {C}' git -p version`, `GIT_TRACE=0 git -c core.fsmonitor='{P} {C} #' status`,
	`cd {T}; git init -q .; git -c core.editor='{P} ../{C} #' -c user.name=x -c user.email=x@x commit --allow-empty`, `cd {T}; git init -q .; GIT_EDITOR='{P} ../{C} #' git -c user.name=x -c user.email=x@x commit --allow-empty`,
	`cd {T}; git init -q .; mkdir h; printf '#!/bin/sh\n{P} ../{C}\n' >h/pre-commit; chmod +x h/pre-commit; git -c core.hooksPath=h -c user.name=x -c user.email=x@x commit --allow-empty -m x`,
	`cd {T}; git init -q .; echo x >f; git add f; echo y >f; git -c diff.external='{P} ../{C} #' diff`, `cd {T}; git init -q .; echo x >f; git add f; echo y >f; GIT_EXTERNAL_DIFF='{P} ../{C} #' git diff`,
	`cd {T}; git init -q .; echo x >f; git add f; echo y >f; git difftool -y -x '{P} ../{C} #'`, `cd {T}; git init -q .; git -c core.sshCommand='{P} ../{C} #' ls-remote ssh://localhost/x`,
	`GIT_SSH_COMMAND='{P} {C} #' git ls-remote ssh://localhost/x`, `git -c protocol.ext.allow=always ls-remote 'ext::{P} {C}'`, `cd {T}; git init -q .; echo x >f; git add f; git grep -O'{P} ../{C} #' x`,
	`cd {T}; git init -q .; git -c user.name=x -c user.email=x@x commit -q --allow-empty -m x; git bisect start; git bisect run {P} ../{C}`,
	`cd {T}; git init -q .; git -c user.name=x -c user.email=x@x commit -q --allow-empty -m x; git -c user.name=x -c user.email=x@x rebase -q --root --exec '{P} ../{C}'`,
	`git -c credential.helper='!{P} {C} #' credential fill <<<'url=https://localhost'`, `git --exec-path="$(dirname {A})" version; git {P} {C}`, `ln -s {A} {T}/git-q; PATH={T}:$PATH git q {C}`,
	`npm exec --offline -c '{P} {C}'`, `npx --offline -c '{P} {C}'`, `cd {T}; echo '{"scripts":{"q":"{P} ../{C}"}}' >package.json; npm run q`, `cd {T}; echo '{"scripts":{"test":"{P} ../{C}"}}' >package.json; npm test`,
	`cd {T}; printf 'package q\n//go:generate {P} ../{C}\n' >q.go; go generate q.go`, `cd {T}; printf 'module q\n' >go.mod; printf 'package main\nfunc main(){}\n' >q.go; go run -exec '{P} ../{C} #' .`,
	`apt-get -o APT::Update::Pre-Invoke::='{P} {C}' update`, `dpkg --pre-invoke='{P} {C}' --configure -a`, `crontab - <<<'* * * * * {P} {C}'`, `EDITOR='{P} {C} #' crontab -e`, `VISUAL='{P} {C} #' sudoedit -n /etc/hosts`,
	`printf '{T}/l {\n prerotate\n {P} {C}\n endscript\n}\n' >{T}/c; echo x >{T}/l; chmod 600 {T}/c {T}/l; logrotate -f -s {T}/state {T}/c`, `vipe </dev/null; EDITOR='{P} {C} #' vipe </dev/null`,
	`openssl engine -t -pre 'SO_PATH:{A}' dynamic; {P} {C}`, `bwrap --bind / / {P} {C}`, `bwrap --dev-bind / / --tmpfs /dev {A} {C}`, `docker run -v /:/x x chroot /x {P} {C}`,

	// The mounts, and other views of the files.
	`umount {A}; {P} {C}`, `umount -l {A}; {P} {C}`, `umount -a; {P} {C}`, `unshare {P} {C}`, `unshare -m {P} {C}`, `unshare -r {P} {C}`, `unshare -rm sh -c 'umount {A}; {P} {C}'`,
	`unshare -rmpf --mount-proc sh -c 'umount -l {A}; {P} {C}'`, `unshare -rm sh -c 'mount --bind / {T}; {T}{A} {C}'`, `mount --bind / {T}; {T}{A} {C}`, `mount -o bind "$(dirname {A})" {T}; {T}/{P} {C}`,
	`mount --move {A} /dev/null; {P} {C}`, `mount -o remount,exec {A}; {P} {C}`, `nsenter -t 1 -m {P} {C}`, `nsenter -t $PPID -m {P} {C}`, `nsenter -t $$ -a {P} {C}`, `chroot / {P} {C}`, `unshare -r chroot / {P} {C}`,
	`unshare -rR / {P} {C}`, `mkdir {T}/o {T}/u {T}/w; unshare -rm sh -c 'mount -t overlay o -olowerdir=/,upperdir={T}/u,workdir={T}/w {T}/o; {T}/o{A} {C}'`, `unshare -rm pivot_root . {T}; {P} {C}`,
	`python3 -c 'import ctypes,os; ctypes.CDLL(None).umount2(b"{A}",2); os.system("{P} {C}")'`, `python3 -c 'import ctypes,os; c=ctypes.CDLL(None); c.unshare(0x10020000); c.umount2(b"{A}",2); os.system("{P} {C}")'`,
	`python3 -c 'import ctypes,os; c=ctypes.CDLL(None); f=c.syscall(428,-100,b"/",1); c.fchdir(f); os.system(".{A} \"$OLDPWD/{C}\"")'`, `for f in /proc/[0-9]*/root; do $f{A} {C}; done`,
	`capsh -- -c '{P} {C}'`, `debugfs -R 'dump {A} {T}/x' "$(df --output=source {A} | tail -1)"; chmod +x {T}/x; {T}/x {C}`, `mkdir {T}/m; fuse-overlayfs -o lowerdir=/ {T}/m; {T}/m{A} {C}`,
}

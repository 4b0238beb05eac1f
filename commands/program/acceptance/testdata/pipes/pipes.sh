#!/bin/sh
# Is an agent fit for a pipeline? Prints a line for each check; 0 if all pass.
#   AGENT=gemline go run ./commands/program/acceptance/testdata/pipes sh commands/program/acceptance/testdata/pipes/pipes.sh
# go run starts a server with the Gemini API whose model answers a prompt with the prompt, "ten megabytes" with as much, and
# "take your time" for ever. For other agents: the flags for one prompt, for no standard input, for JSON Lines, and the last record.
: "${AGENT=gemline}" "${PROMPT=-p}" "${NO_STDIN=-n}" "${JSONL=-o stream-json}"; END=${END-'"type":"result"'}
dir=$(mktemp -d) && mkdir "$dir/home" "$dir/work" && cd "$dir/work" || exit 2
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home"
n=0 bad=0
check() { n=$((n + 1)); if eval "$2"; then echo "ok $n $1"; else echo "not ok $n $1"; bad=1; fi; }
ask() { $AGENT $PROMPT "$@"; }
quits() { [ "$(cat code)" = 141 ] && [ ! -s err ]; }

check 'the answer and a newline, and nothing else' '[ "$(ask hello </dev/null 2>/dev/null | od -An -c | tr -d " ")" = "hello\n" ]'
check 'a slow writer is waited for' '(sleep 2; echo late) | ask hello 2>/dev/null | grep -q late'
told() { grep -Eiqs "stdin|standard input" said; }
check 'an idle pipe: says what it waits for' 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do told || sleep 1; done | ask hello 2>said >/dev/null; told'
check 'a loop of 3 runs 3 times' '[ "$(printf "1\n2\n3\n" | while read -r i; do ask "hello $i" $NO_STDIN 2>/dev/null; done | grep -c hello)" = 3 ]'
ask 'ten megabytes' </dev/null >big 2>/dev/null
ask 'ten megabytes' </dev/null 2>/dev/null | (sleep 2; cat) >piped
check '10 MB through a slow pipe are all there' '[ "$(wc -c <big)" -gt 10000000 ] && cmp -s big piped'
{ ask 'ten megabytes' </dev/null 2>err; echo $? >code; } | head -1 >/dev/null
check 'text | head -1 ends quietly with 141' quits
{ ask 'ten megabytes' $JSONL </dev/null 2>err; echo $? >code; } | head -1 >/dev/null
check 'JSON Lines | head -1 ends quietly with 141' quits
for case in INT:130 TERM:143 HUP:129; do
	rm -f out
	(
		for i in 1 2 3 4 5 6 7 8 9; do [ -s out ] || sleep 1; done
		sleep 1 && p=$(cat pid) && kill -s "${case%:*}" "$p" && sleep 9 && kill -s KILL "$p"
	) >/dev/null 2>&1 &
	sh -c 'echo $$ >pid; exec "$@"' sh $AGENT $PROMPT 'take your time' $JSONL </dev/null >out 2>/dev/null
	code=$?
	kill $! 2>/dev/null
	check "SIG${case%:*} leaves one last record and ${case#*:}" '[ $code = "${case#*:}" ] && [ "$(grep -c "$END" out)" = 1 ] && tail -n 1 out | grep -q "$END"'
done
check 'a closed standard input' '[ "$(ask hello <&- 2>/dev/null)" = hello ]'
check 'a closed standard output' 'ask hello </dev/null >&- 2>/dev/null; [ $? -lt 128 ]'
check 'a closed standard error' '[ "$(ask hello </dev/null 2>&-)" = hello ]'
check 'a home that can not be written to' '[ "$(HOME=/proc/self ask hello </dev/null 2>/dev/null)" = hello ]'
if strace -f -o trace true 2>/dev/null; then
	strace -f -o trace -e trace=open,openat $AGENT $PROMPT hello </dev/null >/dev/null 2>&1
	check 'the terminal is never opened' '[ -s trace ] && ! grep -q /dev/tty trace'
fi
exit $bad

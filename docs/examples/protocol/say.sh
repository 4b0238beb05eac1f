#!/bin/sh
# Says each argument to gemline and prints the answers. What needs approval is
# decided by $DECISION: allow, always or deny, which is what is meant without it.
# $SCOPE says how long always holds: session, project or user. What can't hold as
# long is denied.
#
#   DECISION=allow sh say.sh "tidy up" "and now run the tests"
#
# Needs jq. GEMLINE is the program, if it is not on the path.
dir=$(mktemp -d) || exit
trap 'rm -rf "$dir"' EXIT
mkfifo "$dir/to" "$dir/from" || exit
"${GEMLINE:-gemline}" --input-format stream-json <"$dir/to" >"$dir/from" &
exec 3>"$dir/to" 4<"$dir/from"
for text; do
	jq -nc --arg text "$text" '{type: "user", content: $text}' >&3
	while IFS= read -r line <&4; do
		record() { printf '%s\n' "$line" | jq "$@"; }
		case $(record -r .type) in
		message) record -j 'select(.role == "assistant").content' ;;
		approval_request)
			record -r '"\(.title)? \($ENV.DECISION // "deny")"' >&2
			record -c '{type: "approval", id, decision: ($ENV.DECISION // "deny"), scope: ($ENV.SCOPE // "")}' >&3 ;;
		error) # open: the decision was none, and the question still waits
			record -r .message >&2
			record -c 'select(.open) | {type: "approval", id, decision: "deny"}' >&3 ;;
		question) record -c '{type: "answer", id, answers: []}' >&3 ;;
		turn_result) record -r '.error.message // empty' >&2; echo; break ;;
		esac
	done
done
exec 3>&-
cat <&4 >/dev/null # the result of the whole
wait $!

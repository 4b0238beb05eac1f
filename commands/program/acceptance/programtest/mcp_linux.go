//go:build linux

package programtest

// Desk is an MCP server in sh, which leaves two programs running and notes all processes.
const Desk = `#!/bin/sh
sleep 1000 &
echo $! >>pids
setsid sleep 1000 &
echo $! >>pids
echo $$ >>pids
env >environ
echo "at the desk" >&2
say() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while IFS= read -r line; do
	id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
	case $line in
	*'"method":"initialize"'*) say '{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"prompts":{},"resources":{}},"instructions":"Knock first.","serverInfo":{"name":"desk","version":"1"}}';;
	*'"method":"tools/list"'*) say '{"tools":[{"name":"look","description":"Looks.","inputSchema":{"type":"object","properties":{"at":{"type":"string"}},"required":["at"]}},{"name":"wonder","inputSchema":{"type":"object"}}]}';;
	*'"method":"prompts/list"'*) say '{"prompts":[{"name":"tidy up","arguments":[{"name":"what","required":true}]}]}';;
	*'"method":"prompts/get"'*) say '{"messages":[{"role":"user","content":{"type":"text","text":"Tidy up the drawer."}}]}';;
	*'"method":"resources/list"'*) say '{"resources":[{"uri":"desk://drawer","name":"drawer"}]}';;
	*'"method":"resources/templates/list"'*) say '{"resourceTemplates":[]}';;
	*'"uri":"desk://photo"'*) say '{"contents":[{"uri":"desk://photo","mimeType":"image/png","blob":"iVBORw0KGgo="}]}';;
	*'"method":"resources/read"'*) say '{"contents":[{"uri":"desk://drawer","text":"three pens"}]}';;
	*'"name":"wonder"'*)
		printf '{"jsonrpc":"2.0","id":"w","method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"What is \\u001b[31mit?"}}],"systemPrompt":"Be brief.","maxTokens":40}}\n'
		IFS= read -r said
		case $said in
		*'A table.'*'"stopReason":"endTurn"'*) say '{"content":[{"type":"text","text":"heard of a table"}]}';;
		*) say '{"content":[{"type":"text","text":"heard nothing"}]}';;
		esac;;
	*'"method":"tools/call"'*) say '{"content":[{"type":"text","text":"a lamp"}]}';;
	esac
done
`

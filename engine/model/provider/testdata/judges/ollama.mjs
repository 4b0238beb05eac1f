// Sends the request on standard input to a server by the ollama package, and writes what that
// makes of the answer. The arguments are where packages are and the address of the server.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const [, , modules, host] = process.argv
const { Ollama } = createRequire(modules + '/')('ollama')
const request = JSON.parse(readFileSync(0, 'utf8'))
const heard = { Text: '', Thought: '', Finish: '', Calls: null, Tokens: [0, 0, 0] }
const answer = await new Ollama({ host }).chat(request)
for await (const part of request.stream ? answer : [answer]) {
  heard.Text += part.message.content
  heard.Thought += part.message.thinking ?? ''
  for (const { function: f } of part.message.tool_calls ?? []) {
    heard.Calls = [...(heard.Calls ?? []), { ID: '', Name: f.name, Args: f.arguments }]
  }
  if (part.done) {
    heard.Finish = part.done_reason
    heard.Tokens = [part.prompt_eval_count, 0, part.eval_count]
  }
}
console.log(JSON.stringify(heard))

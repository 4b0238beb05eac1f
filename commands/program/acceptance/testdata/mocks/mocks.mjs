// Two mock servers that others wrote. The argument is where packages are. What is printed is
// the address of each, and at the end of standard input what the first was asked, in JSON.
import { createRequire } from 'node:module'

const require = createRequire(process.argv[2] + '/')
const print = line => process.stdout.write(line + '\n')
console.log = () => {}

const { LLMock } = require('@copilotkit/aimock')
const mock = new LLMock({ port: 0, chunkSize: 5 })
mock.on({ hasToolResult: true }, { content: 'Two files are there.' })
mock.on({ userMessage: 'list' }, { toolCalls: [
  { name: 'list_directory', arguments: '{"dir_path":"."}' }, { name: 'read_file', arguments: '{"file_path":"a.txt"}' }] })
mock.on({ userMessage: 'think' }, { content: 'It is so.', reasoning: 'Is it so?' })
mock.on({ userMessage: 'refuse' }, { error: { message: 'no such thing', type: 'invalid_request_error' }, status: 400 })
await mock.start()
print(mock.url)

const { createServer } = require('@dwmkerr/mock-llm/dist/server.js')
const says = message => JSON.stringify({ id: 'c', object: 'chat.completion', model: '{{jmes request body.model}}',
  choices: [{ index: 0, message, finish_reason: 'stop' }] })
const rules = [
  { path: '/v1/chat/completions', match: '@', response: { status: 200, content: says({ role: 'assistant', content: 'A line that comes in pieces.' }) } },
  { path: '/v1/chat/completions', match: "contains(body.messages[-1].content, 'refuse')", response: { status: 400, content: '{"error":{"message":"no such thing","type":"invalid_request_error"}}' } },
  { path: '/v1/models', response: { status: 200, content: '{"object":"list","data":[{"id":"echo","object":"model"}]}' } }]
const server = createServer({ rules, streaming: { chunkSize: 7, chunkIntervalMs: 1 } }, '127.0.0.1', 0).listen(0, '127.0.0.1', () =>
  print(`http://127.0.0.1:${server.address().port}`))

process.stdin.resume().on('end', () => {
  print(JSON.stringify(mock.getRequests().map(r => [r.path, r.response?.status ?? 0])))
  process.exit()
})

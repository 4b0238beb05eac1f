// A client of gemline mcp serve, made with the SDK that most clients are made with. It is
// given the SDK's folder, a server, and steps, and prints what each step gave, a line each.
//
//   node client.mjs SDK '{"command":…,"args":[…],"env":{…}}' '[{"tool":…,"args":{…}}]'
//   node client.mjs SDK '{"url":…,"token":…}' '[…]'
import { pathToFileURL } from 'node:url'
import { join } from 'node:path'

const [sdk, where, script, deaf] = process.argv.slice(2)
const load = name => import(pathToFileURL(join(sdk, 'dist/esm', name)))
const { Client } = await load('client/index.js')
const { StdioClientTransport } = await load('client/stdio.js')
const { StreamableHTTPClientTransport } = await load('client/streamableHttp.js')
const { ElicitRequestSchema, LoggingMessageNotificationSchema } = await load('types.js')

const server = JSON.parse(where)
const transport = server.url
  ? new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers: { Authorization: 'Bearer ' + server.token } } })
  : new StdioClientTransport({ ...server, stderr: 'inherit' })
const client = new Client({ name: 'test', version: '1' }, { capabilities: deaf ? {} : { elicitation: {} } })
const say = value => process.stdout.write(JSON.stringify(value) + '\n')

let step, abort, asked, logged
if (!deaf) {
  client.setRequestHandler(ElicitRequestSchema, async request => {
    asked.push(request.params)
    if (step.abort) {
      abort.abort()
      return { action: 'cancel' }
    }
    if (step.wait) { // to be killed meanwhile
      say({ waits: true })
      await new Promise(() => {})
    }
    return step.answers.shift()
  })
}
client.setNotificationHandler(LoggingMessageNotificationSchema, n => { logged.push(n.params.data) })

asked = []
logged = []
await client.connect(transport)
for (step of JSON.parse(script)) {
  abort = new AbortController()
  asked = []
  logged = []
  const progress = []
  const out = {}
  try {
    out.result = step.tool
      ? await client.callTool({ name: step.tool, arguments: step.args }, undefined,
        { signal: abort.signal, onprogress: p => progress.push(p.message), resetTimeoutOnProgress: true })
      : await client.listTools()
  } catch (e) {
    out.error = String(e)
  }
  say({ ...out, asked, progress, logged, server: client.getServerVersion() })
}
if (server.url) await transport.terminateSession()
await client.close()

// An editor that gemline --acp serves, made with the SDK that most editors in TypeScript are
// made with. It is given the SDK's folder, a server, what it says it can do, and steps, and
// prints what each step gave, a line each. Where a parameter is "#n", it is the id of the
// session that the step n began.
//
//   node client.mjs SDK '{"command":…,"args":[…],"env":{…},"cwd":…}' '{"fs":…}' '[{"method":…,"params":{…},"answers":[…]}]'
import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'

const [sdk, where, can, script] = process.argv.slice(2)
const main = JSON.parse(await readFile(join(sdk, 'package.json'))).main
const acp = await import(pathToFileURL(join(sdk, main)))
const server = JSON.parse(where)
const agent = spawn(server.command, server.args, { ...server, stdio: ['pipe', 'pipe', 'inherit'] })
const say = value => process.stdout.write(JSON.stringify(value) + '\n')
const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout))

let seen = { updates: [], asked: [], files: [] }
let answers = [], then = []
const open = {} // what is open in the editor, and not saved

const update = params => { seen.updates.push({ session: params.sessionId, ...params.update }) }
const ask = async params => {
  seen.asked.push(params)
  const answer = answers.shift()
  if (answer === 'die') { // in the middle of a question
    say(seen)
    process.exit(0)
  }
  if (answer === 'cancel the prompt') {
    notify('session/cancel', { sessionId: params.sessionId })
    notify('session/cancel', { sessionId: params.sessionId })
    return { outcome: { outcome: 'cancelled' } }
  }
  const byKind = params.options.find(o => o.kind === answer)
  return { outcome: { outcome: 'selected', optionId: byKind ? byKind.optionId : answer } }
}
const read = async params => {
  seen.files.push({ read: params.path })
  return { content: open[params.path] ?? await readFile(params.path, 'utf8') }
}
const write = async params => {
  seen.files.push({ write: params.path })
  delete open[params.path]
  await writeFile(params.path, params.content)
  return {}
}

let request, notify
if (acp.client) {
  const context = await new Promise(resolve => {
    acp.client({ name: 'test' })
      .onNotification('session/update', c => update(c.params))
      .onRequest('session/request_permission', c => ask(c.params))
      .onRequest('fs/read_text_file', c => read(c.params))
      .onRequest('fs/write_text_file', c => write(c.params))
      .connectWith(stream, ctx => { resolve(ctx); return new Promise(() => {}) })
      .catch(() => {})
  })
  request = (method, params) => context.request(method, params)
  notify = (method, params) => context.notify(method, params)
} else {
  const c = new acp.ClientSideConnection(() => ({ sessionUpdate: update, requestPermission: ask, readTextFile: read, writeTextFile: write }), stream)
  const names = { initialize: 'initialize', 'session/new': 'newSession', 'session/load': 'loadSession', 'session/prompt': 'prompt',
    'session/set_mode': 'setSessionMode', 'session/set_model': 'setSessionModel' }
  request = (method, params) => c[names[method]](params)
  notify = (_, params) => c.cancel(params)
}

const ids = []
const resolve = v => typeof v === 'string' ? v.replace(/^#(\d+)$/, (_, n) => ids[n]) : Array.isArray(v) ? v.map(resolve)
  : v && typeof v === 'object' ? Object.fromEntries(Object.entries(v).map(([k, x]) => [k, resolve(x)])) : v
const carryOut = async (step, i) => {
  if (step.together) return Promise.all(step.together.map(s => carryOut(s, i)))
  try {
    const result = await request(step.method, resolve(step.params))
    ids[i] = result?.sessionId ?? ids[i]
    return { result }
  } catch (e) {
    return { error: { code: e.code, message: e.message } }
  }
}
const first = { method: 'initialize', params: { protocolVersion: 1, clientInfo: { name: 'test', version: '1' }, clientCapabilities: JSON.parse(can) } }
for (const [i, step] of [first, ...JSON.parse(script)].entries()) {
  answers = step.answers ?? []
  Object.assign(open, step.open)
  let out = await carryOut(step, i)
  if (step.until) { // what is told behind the answer
    while (!seen.updates.some(u => u.sessionUpdate === step.until)) await new Promise(resolve => setImmediate(resolve))
  }
  say({ ...(Array.isArray(out) ? { all: out } : out), ...seen })
  seen = { updates: [], asked: [], files: [] }
}
agent.stdin.end()
process.exit(0)

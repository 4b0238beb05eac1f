// A client of gemline a2a serve, made with the protocol's own SDK for JavaScript. It is given
// the SDK's folder and a server. Each line that it reads is a call of a method of the SDK's
// client, which go on side by side; it prints what each gives, a line each.
//
//   node client.mjs SDK '{"url":…,"token":…}'
//   {"call":1,"method":"sendMessageStream","params":{…}}
//   → {"call":1,"value":{…}} … {"call":1,"over":true}, or {"call":1,"over":true,"error":…}
import { createInterface } from 'node:readline'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [sdk, where] = process.argv.slice(2)
const { ClientFactory, JsonRpcTransportFactory, createAuthenticatingFetchWithRetry } =
  await import(pathToFileURL(join(sdk, 'dist/client/index.js')))
const { url, token } = JSON.parse(where)
const fetchImpl = createAuthenticatingFetchWithRetry(fetch, {
  headers: async () => ({ Authorization: 'Bearer ' + token }),
  shouldRetryWithHeaders: async () => undefined,
})
const client = await new ClientFactory({ transports: [new JsonRpcTransportFactory({ fetchImpl })] }).createFromUrl(url)
const say = value => process.stdout.write(JSON.stringify(value) + '\n')

for await (const line of createInterface({ input: process.stdin })) {
  const { call, method, params } = JSON.parse(line)
  const work = async () => {
    const given = client[method](params)
    if (!given[Symbol.asyncIterator]) return say({ call, value: await given })
    for await (const value of given) say({ call, value })
  }
  work().then(() => say({ call, over: true }), e => say({ call, over: true, error: `${e.constructor.name}: ${e}` }))
}
process.exit() // whatever still goes on

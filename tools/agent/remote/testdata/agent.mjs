// An agent that the protocol's library for JavaScript serves: over JSON-RPC at /rpc and REST
// at /rest. It prints its port, and says what was done to it.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
const require = createRequire(process.argv[2] + '/');
const load = async (name) => import(pathToFileURL(require.resolve(name)));
const { DefaultRequestHandler, InMemoryTaskStore } = await load('@a2a-js/sdk/server');
const { jsonRpcHandler, restHandler, agentCardHandler, UserBuilder } = await load('@a2a-js/sdk/server/express');
const express = (await load('express')).default;

const waiting = new Map();
const executor = {
  async execute(context, bus) {
    const { taskId, contextId, userMessage, task } = context;
    const said = userMessage.parts.map((p) => p.text ?? '').join('');
    const message = (text) => ({ kind: 'message', role: 'agent', messageId: crypto.randomUUID(), parts: [{ kind: 'text', text }], taskId, contextId });
    const status = (state, text, final) => bus.publish({ kind: 'status-update', taskId, contextId, final, status: { state, message: text && message(text), timestamp: new Date().toISOString() } });
    if (said.startsWith('hello ')) {
      bus.publish({ kind: 'message', role: 'agent', messageId: crypto.randomUUID(), parts: [{ kind: 'text', text: 'Hello, ' + said.slice(6) + '.' }], contextId });
      bus.finished();
      return;
    }
    if (task) {
      status('completed', 'It is ' + said + ', then.', true);
      bus.finished();
      return;
    }
    bus.publish({ kind: 'task', id: taskId, contextId, status: { state: 'submitted', timestamp: new Date().toISOString() }, history: [userMessage] });
    status('working', 'I am at it.', false);
    if (said === 'wait') {
      await new Promise((resolve) => waiting.set(taskId, resolve));
      status('canceled', undefined, true);
    } else if (said === 'ask') {
      status('input-required', 'Which one?', true);
    } else {
      const parts = [{ kind: 'text', text: 'one' }, { kind: 'data', data: { n: 3 } }, { kind: 'file', file: { uri: 'https://example.com/f', name: 'f.txt', mimeType: 'text/plain' } }];
      bus.publish({ kind: 'artifact-update', taskId, contextId, append: false, lastChunk: true, artifact: { artifactId: 'a', name: 'list', parts } });
      status('completed', 'Done.', true);
    }
    bus.finished();
  },
  async cancelTask(taskId) {
    console.log('cancelled');
    waiting.get(taskId)?.();
  },
};

const app = express();
const server = app.listen(0, '127.0.0.1', () => {
  const url = 'http://127.0.0.1:' + server.address().port;
  const serve = (path, preferredTransport) => {
    const card = { name: 'js', description: 'd', protocolVersion: '0.3.0', version: '1', url: url + path, preferredTransport,
      capabilities: { streaming: true }, defaultInputModes: ['text'], defaultOutputModes: ['text'], skills: [] };
    const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
    app.use(path + '/card', agentCardHandler({ agentCardProvider: requestHandler }));
    const options = { requestHandler, userBuilder: UserBuilder.noAuthentication };
    app.use(path, preferredTransport === 'JSONRPC' ? jsonRpcHandler(options) : restHandler(options));
  };
  serve('/rpc', 'JSONRPC');
  serve('/rest', 'HTTP+JSON');
  console.log(url);
});

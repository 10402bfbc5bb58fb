// A client of agentls made of Microsoft's libraries: it starts a run, watches
// it, reviews what it proposes and leaves, as an editor with a plugin would.
//
//   node client.mjs --workspace DIR [--open FILE]... --prompt TEXT
//                   [--verdict accept|reject] [--timeout SECONDS] -- COMMAND ARG...
//
// The server gets the client's environment. On standard output comes one JSON
// object that says what happened; anything the protocol does not allow is a
// line on standard error and exit status 1.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import {
  ApplyWorkspaceEditRequest, ConfigurationRequest, createProtocolConnection, ExitNotification,
  InitializedNotification, InitializeRequest, LogMessageNotification, RegistrationRequest, ShutdownRequest,
  StreamMessageReader, StreamMessageWriter, WorkDoneProgressCreateRequest,
} from 'vscode-languageserver-protocol/node';
import { Editor, inside } from './editor.mjs';
import { Events } from './events.mjs';

const { values: options, positionals: command } = parseArgs({
  allowPositionals: true,
  options: {
    workspace: { type: 'string' },
    open: { type: 'string', multiple: true, default: [] },
    prompt: { type: 'string' },
    verdict: { type: 'string', default: 'accept' },
    timeout: { type: 'string', default: '60' },
  },
});
let server;
let stderr = '';

function fail(message) {
  process.stderr.write(`${message}\n${stderr ? `--- standard error of the server\n${stderr}` : ''}`);
  server?.kill();
  process.exit(1);
}

function check(holds, message) {
  if (!holds) throw new Error(message);
}

if (!options.workspace || !options.prompt || command.length === 0) fail('see the head of client.mjs for the usage');
server = spawn(command[0], command.slice(1), { stdio: ['pipe', 'pipe', 'pipe'] });
server.stderr.on('data', (text) => { stderr += text; });
server.on('error', (err) => fail(`starting the server: ${err.message}`));
const exited = new Promise((resolve) => server.on('close', (status, signal) => resolve(signal ?? status)));
setTimeout(() => fail(`not done after ${options.timeout} s; events: ${JSON.stringify(events.counts)}`), options.timeout * 1000).unref();

const connection = createProtocolConnection(
  new StreamMessageReader(server.stdout), new StreamMessageWriter(server.stdin));
const editor = new Editor(connection);
const events = new Events(fail);
let leaving = false;

connection.onError(([err]) => leaving || fail(`connection: ${err.message}`));
connection.onClose(() => leaving || fail('the server closed the connection'));
connection.onUnhandledNotification(({ method }) => fail(`unexpected notification ${method}`));
connection.onRequest((method) => fail(`unexpected request ${method}`));
connection.onRequest(ApplyWorkspaceEditRequest.type, (params) => {
  try {
    return editor.apply(params);
  } catch (err) {
    return fail(`applyEdit: ${err.message}\n${JSON.stringify(params, null, 2)}`);
  }
});
connection.onRequest(WorkDoneProgressCreateRequest.type, ({ token }) => { events.created(token); });
connection.onRequest(ConfigurationRequest.type, ({ items }) => items.map(() => null));
connection.onRequest(RegistrationRequest.type, () => {});
connection.onNotification(LogMessageNotification.type, () => {});
connection.onNotification('$/progress', (params) => events.progress(params));
connection.onNotification('agent/event', (event) => events.take(event));
connection.listen();

run().then((summary) => process.stdout.write(`${JSON.stringify(summary, null, 2)}\n`), (err) => fail(err.stack));

async function run() {
  const initialized = await initialize();
  for (const file of options.open) editor.open(join(options.workspace, file));

  const { sessionId, runId } = await connection.sendRequest('agent/run/start', { prompt: options.prompt });
  check(typeof sessionId === 'string' && typeof runId === 'string', 'run/start answered without ids');
  events.know(sessionId, runId);
  const result = await connection.sendRequest('agent/run/wait', { runId });
  check(events.ended(runId), 'run/wait was answered before runEnded');
  check(result.stopReason === events.stopReason(runId), 'run/wait and runEnded differ');

  const proposal = await connection.sendRequest('agent/proposal/get', { sessionId });
  for (const file of proposal.files) checkFile(file);
  const review = await resolve(sessionId, proposal);
  const again = await connection.sendRequest('agent/run/wait', { runId });
  check(again.stopReason === result.stopReason, 'a second run/wait answers something else');

  leaving = true;
  check(await connection.sendRequest(ShutdownRequest.type) === null, 'shutdown answers something');
  await connection.sendNotification(ExitNotification.type);
  const status = await exited;
  check(status === 0, `the server left with ${status}`);
  events.checkProgress();
  return {
    server: initialized.serverInfo,
    run: result,
    events: events.counts,
    proposal: proposal.files.map(({ op, uri, state, hunks }) => ({ op, file: name(uri), state, hunks: hunks?.length ?? 0 })),
    results: review?.results ?? [],
    edits: editor.edits,
    documents: Object.fromEntries([...editor.documents].map(([uri, document]) => [name(uri), document.getText()])),
    disk: Object.fromEntries(options.open.map((file) => [file, onDisk(file)])),
  };
}

async function initialize() {
  const root = pathToFileURL(options.workspace).href;
  const result = await connection.sendRequest(InitializeRequest.type, {
    processId: process.pid,
    clientInfo: { name: 'node', version: process.version },
    rootUri: root,
    workspaceFolders: [{ uri: root, name: 'workspace' }],
    capabilities: {
      general: { positionEncodings: ['utf-16'] },
      window: { workDoneProgress: true },
      textDocument: { synchronization: { didSave: true } },
      workspace: {
        applyEdit: true, configuration: true, workspaceFolders: true,
        workspaceEdit: { documentChanges: true, resourceOperations: ['create', 'rename', 'delete'] },
        didChangeConfiguration: { dynamicRegistration: true },
      },
      experimental: { agent: { protocol: 1, review: {} } },
    },
  });
  const { capabilities } = result;
  const agent = capabilities.experimental?.agent;
  check(result.serverInfo?.name === 'agentls', 'serverInfo.name is not agentls');
  check(agent?.protocol === 1 && agent.previewScheme === 'agentls-proposal', 'experimental.agent is wrong');
  check(agent.methods?.includes('agent/run/start') && agent.events?.includes('runEnded'), 'methods or events are missing');
  check((capabilities.positionEncoding ?? 'utf-16') === 'utf-16', 'positionEncoding was not offered');
  check(capabilities.textDocumentSync?.openClose && capabilities.textDocumentSync.change === 2, 'textDocumentSync is wrong');
  check(!capabilities.executeCommandProvider, 'executeCommandProvider is for plain clients');
  await connection.sendNotification(InitializedNotification.type, {});
  return result;
}

/** What a hunk says of the document must be so. */
function checkFile({ op, uri, oldUri, patch, hunks, added, removed }) {
  check(['modify', 'create', 'delete', 'rename'].includes(op), `${uri}: op ${op}`);
  check(typeof patch === 'string' && Number.isInteger(added) && Number.isInteger(removed), `${uri}: no patch or counts`);
  if (op === 'create' || op === 'delete') return;
  const shown = oldUri ?? uri;
  const document = editor.documents.get(shown);
  if (!document) return; // not open: nothing to compare with
  for (const { hunkId, range, oldText } of hunks) {
    inside(document, range);
    check(document.getText(range) === oldText, `${hunkId}: oldText is not the text in its range`);
  }
}

async function resolve(sessionId, { revision, files }) {
  if (files.length === 0) return undefined;
  const decisions = [{ all: true, verdict: options.verdict }];
  const answer = await connection.sendRequest('agent/proposal/resolve', { sessionId, revision, decisions });
  check(events.revision === answer.revision, 'resolve was answered before its proposal event');
  const { files: left } = await connection.sendRequest('agent/proposal/get', { sessionId });
  const settled = options.verdict === 'accept' ? 'applied' : 'rejected';
  for (const { state, reason, hunkId, fileId } of answer.results) {
    check(state === settled, `${hunkId ?? fileId}: ${state} (${reason})`);
  }
  check(left.length === 0, 'settled files are still in the proposal');
  return answer;
}

function name(uri) {
  return relative(options.workspace, fileURLToPath(uri));
}

function onDisk(file) {
  try {
    return readFileSync(join(options.workspace, file), 'utf8');
  } catch {
    return null;
  }
}

// A real MCP client that writes down everything it sees of a server.
//
//   node client.mjs PLAN.json RECORD.json -- COMMAND [ARGUMENT…]
//
// It is run once with a server's own command and once with deed run in front
// of it; the two records must be the same. What is recorded is what the
// TypeScript SDK hands over (answers, errors, requests of the server) and,
// beside it, a hash of every line of the server's stdout, so that a byte that
// the SDK would forgive is not forgiven here.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import os from "node:os";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ResultSchema,
} from "@modelcontextprotocol/sdk/types.js";

const [planFile, recordFile, dashes, command, ...args] = process.argv.slice(2);
if (dashes !== "--" || command === undefined) {
  console.error("usage: node client.mjs PLAN.json RECORD.json -- COMMAND [ARGUMENT...]");
  process.exit(2);
}
const plan = JSON.parse(readFileSync(planFile, "utf8"));

// Pages of a list that are asked for at most.
const mostPages = 20;

// Sees the bytes that the SDK reads, the messages that it sends and the end
// of the process.
class Watched extends StdioClientTransport {
  out = [];
  err = [];
  sent = { bytes: 0, messages: 0, methods: {} };
  lastHeard = 0;
  // Progress by its token, as it came in. The SDK hands a notification over after the
  // answer that follows it where both are in one chunk, which is up to the pipe, and
  // then it knows the token no longer.
  progress = new Map();

  // The SDK calls what was there before its own.
  onmessage = (message) => {
    if (message.method !== "notifications/progress") return;
    const { progressToken, ...note } = message.params;
    this.progress.get(progressToken)?.seen.push(note);
  };

  async start() {
    this.stderr.on("data", (chunk) => this.err.push(chunk));
    const started = super.start();
    // The process exists as soon as start was called, and no data arrives
    // before this function has given way.
    const child = this._process;
    child.stdout.on("data", (chunk) => {
      this.out.push(chunk);
      this.lastHeard = Date.now();
    });
    this.ended = new Promise((resolve) => {
      child.on("close", (code, signal) => resolve(exitCode(code, signal)));
      child.on("error", (error) => resolve(`not started: ${error.code}`));
    });
    await started;
  }

  send(message) {
    this.sent.messages++;
    this.sent.bytes += Buffer.byteLength(JSON.stringify(message)) + 1;
    const method = message.method ?? "(answer)";
    this.sent.methods[method] = (this.sent.methods[method] ?? 0) + 1;
    const token = message.params?._meta?.progressToken;
    if (token !== undefined) this.progress.set(token, { name: message.params.name, seen: [] });
    return super.send(message);
  }
}

// What a shell would report: 128+n for a process that signal n ended.
function exitCode(code, signal) {
  return code ?? 128 + os.constants.signals[signal];
}

const transport = new Watched({ command, args, cwd: plan.folder, env: { ...process.env }, stderr: "pipe" });
const client = new Client(
  { name: "deed-test-client", version: "1.0.0" },
  { capabilities: { roots: { listChanged: true }, sampling: {}, elicitation: {} } },
);
const asked = []; // requests of the server, with what they asked
const transportErrors = [];

function answer(schema, result) {
  client.setRequestHandler(schema, (request) => {
    asked.push(request);
    return result;
  });
}
answer(ListRootsRequestSchema, { roots: plan.roots ?? [] });
answer(CreateMessageRequestSchema, {
  role: "assistant",
  model: "none",
  content: { type: "text", text: "sampled: héllo \u2028 😀" },
});
answer(ElicitRequestSchema, { action: "decline" });
client.onerror = (error) => {
  const late = /^Received a progress notification for an unknown token: .*"progressToken":(\d+)/.exec(error.message);
  if (!transport.progress.has(Number(late?.[1]))) transportErrors.push(error.message);
};

const timeout = plan.timeoutMS;
const answers = [];

// Records how one request ended. Errors are answers like any other.
async function ask(what, request) {
  const entry = { ask: what };
  answers.push(entry);
  try {
    entry.result = await request();
  } catch (error) {
    entry.error = { code: error.code ?? null, message: error.message, data: error.data ?? null };
  }
  return entry.result;
}

// A request as it is on the wire; the SDK's own helpers would check results
// against output schemas and hide what they do not know.
function raw(method, params, options) {
  return client.request({ method, params }, ResultSchema, { timeout, ...options });
}

async function listAll(method, member) {
  let cursor;
  let first;
  for (let page = 0; page < mostPages; page++) {
    const result = await ask(method, () => raw(method, cursor === undefined ? {} : { cursor }));
    first ??= result?.[member]?.[0];
    cursor = result?.nextCursor;
    if (cursor === undefined) break;
  }
  return first;
}

// Waits until the server has had nothing to say for a while, which is longer where
// the machine was slow to let it start. Some servers ask for roots and change their
// lists when they feel like it.
async function quiet(ms) {
  transport.lastHeard = Date.now();
  while (Date.now() - transport.lastHeard < ms) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function callTool({ name, arguments: given, progress: wanted, cancelMS }) {
  const stop = new AbortController();
  const options = { signal: stop.signal };
  // What it brings is seen by the transport.
  if (wanted) options.onprogress = () => {};
  if (cancelMS) setTimeout(() => stop.abort("changed my mind"), cancelMS);
  await ask(`tools/call ${name}`, () => raw("tools/call", { name, arguments: given ?? {} }, options));
}

async function talk() {
  const began = Date.now();
  await ask("initialize", async () => {
    await client.connect(transport, { timeout });
    return {
      serverInfo: client.getServerVersion(),
      capabilities: client.getServerCapabilities(),
      instructions: client.getInstructions() ?? null,
    };
  });
  if (answers[0].error !== undefined) return;
  if (plan.quietMS) await quiet(Math.max(plan.quietMS, 2 * (Date.now() - began)));
  const has = client.getServerCapabilities() ?? {};
  await ask("ping", () => raw("ping", {}));
  await listAll("tools/list", "tools");
  if (has.prompts) await listAll("prompts/list", "prompts");
  if (has.resources) {
    const first = await listAll("resources/list", "resources");
    await listAll("resources/templates/list", "resourceTemplates");
    if (first) await ask(`resources/read ${first.uri}`, () => raw("resources/read", { uri: first.uri }));
  }
  for (const prompt of plan.prompts ?? []) await ask(`prompts/get ${prompt.name}`, () => raw("prompts/get", prompt));
  for (const call of plan.calls ?? []) await callTool(call);
  await Promise.all((plan.together ?? []).map(callTool));
  await ask("tools/call (a tool that does not exist)", () => raw("tools/call", { name: "no-such-tool", arguments: {} }));
  await ask("a method that does not exist", () => raw("deed-test/no-such-method", { n: 1 }));
}

await talk();
await client.close().catch((error) => transportErrors.push(`close: ${error.message}`));
const exit = await transport.ended;

const out = Buffer.concat(transport.out);
writeFileSync(recordFile, JSON.stringify({
  answers,
  asked: sorted(asked),
  progress: sorted([...transport.progress.values()]),
  transportErrors: sorted(transportErrors),
  wire: describeWire(out),
  sent: transport.sent,
  received: out.length,
  stderr: Buffer.concat(transport.err).toString("latin1").split("\n"),
  exit,
}));

// Order between messages of different requests is the server's own affair
// and differs from run to run, so lines are found by what they answer.
function describeWire(bytes) {
  const wire = { answers: {}, others: [], noise: [], unterminated: "" };
  let start = 0;
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
    const line = bytes.subarray(start, end + 1);
    start = end + 1;
    const hash = `${line.length} bytes ${createHash("sha256").update(line).digest("hex")}`;
    let message;
    try {
      message = JSON.parse(line.toString("utf8"));
    } catch {
      wire.noise.push(line.toString("latin1"));
      continue;
    }
    if (message !== null && message.method === undefined && message.id !== undefined) {
      wire.answers[JSON.stringify(message.id)] = hash;
    } else {
      wire.others.push({ method: message?.method ?? null, message, hash });
    }
  }
  wire.unterminated = bytes.subarray(start).toString("latin1");
  wire.others = sorted(wire.others);
  return wire;
}

function sorted(list) {
  return list
    .map((one) => JSON.stringify(one))
    .sort()
    .map((text) => JSON.parse(text));
}

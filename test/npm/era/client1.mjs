// A client made with the first line of the TypeScript SDK, in any of its eras.
//
//   node client1.mjs PACKAGE RECORD.json -- COMMAND [ARGUMENT…]
//
// It says everything that a client of its era can, and writes down what it
// got for it.
import { writeFileSync } from "node:fs";
import { plan, record } from "./plan.mjs";

const [sdk, recordFile, , command, ...args] = process.argv.slice(2);
const { Client } = await import(`${sdk}/client/index.js`);
const { StdioClientTransport } = await import(`${sdk}/client/stdio.js`);
const types = await import(`${sdk}/types.js`);

const client = new Client(
  { name: `era client of ${sdk}`, version: "3.2.1" },
  { capabilities: { roots: { listChanged: true }, sampling: {}, elicitation: {} } },
);
const seen = record();
const handle = (schema, result) =>
  schema && client.setRequestHandler(schema, (request) => {
    seen.asked.push(request);
    return result;
  });
handle(types.ListRootsRequestSchema, { roots: [{ uri: "file:///era", name: "era" }] });
handle(types.CreateMessageRequestSchema, { role: "assistant", model: "none", content: { type: "text", text: "said" } });
handle(types.ElicitRequestSchema, { action: "accept", content: { sure: true } });
client.fallbackNotificationHandler = async (note) => void seen.heard.push(note);

await client.connect(new StdioClientTransport({ command, args, env: { ...process.env }, stderr: "inherit" }));
const request = (method, params, options) => client.request({ method, params }, types.ResultSchema, options);
await plan(seen, {
  request,
  elicits: types.ElicitRequestSchema !== undefined,
  before: async () => {
    await request("logging/setLevel", { level: "debug" });
    await request("resources/subscribe", { uri: "era://one" });
    await client.notification({ method: "notifications/roots/list_changed" });
    await request("ping", {});
  },
  after: () => request("resources/unsubscribe", { uri: "era://one" }),
});
writeFileSync(recordFile, seen.text());
await client.close();

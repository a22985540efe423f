// A client made with the second line of the TypeScript SDK, which speaks
// 2026-07-28 or nothing.
//
//   node client2.mjs PACKAGE RECORD.json -- COMMAND [ARGUMENT…]
import { writeFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { plan, record } from "./plan.mjs";

const [, recordFile, , command, ...args] = process.argv.slice(2);
const client = new Client(
  { name: "era client of two", version: "3.2.1" },
  {
    capabilities: { roots: { listChanged: true }, sampling: {}, elicitation: {} },
    versionNegotiation: { mode: { pin: "2026-07-28" } },
  },
);
const seen = record();
const handle = (method, result) =>
  client.setRequestHandler(method, (request) => {
    seen.asked.push(request);
    return result;
  });
handle("roots/list", { roots: [{ uri: "file:///era", name: "era" }] });
handle("sampling/createMessage", { role: "assistant", model: "none", content: { type: "text", text: "said" } });
handle("elicitation/create", { action: "accept", content: { sure: true } });
client.fallbackNotificationHandler = async (note) => void seen.heard.push(note);

await client.connect(new StdioClientTransport({ command, args, env: { ...process.env }, stderr: "inherit" }));
let subscription;
await plan(seen, {
  // Each method has a helper of its own; the log level goes along with every request.
  request: (method, params, options) => {
    const leveled = { ...params, _meta: { "io.modelcontextprotocol/logLevel": "debug" } };
    switch (method) {
      case "tools/list": return client.listTools(leveled, options);
      case "tools/call": return client.callTool(leveled, options);
      case "resources/list": return client.listResources(leveled, options);
      case "resources/read": return client.readResource(leveled, options);
      case "prompts/list": return client.listPrompts(leveled, options);
      case "prompts/get": return client.getPrompt(leveled, options);
      case "completion/complete": return client.complete(leveled, options);
    }
    throw new Error(`no helper for ${method}`);
  },
  elicits: true,
  before: async () => {
    subscription = await client.listen({
      toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true, resourceSubscriptions: ["era://one"],
    });
  },
  after: () => subscription.close(),
});
writeFileSync(recordFile, seen.text());
await client.close();

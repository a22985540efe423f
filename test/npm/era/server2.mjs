// A server made with the second line of the TypeScript SDK. It speaks
// 2026-07-28, and what was before to those who begin with initialize.
import { completable, fromJsonSchema, inputRequired, McpServer, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";

const text = (said) => ({ content: [{ type: "text", text: said }] });
const anything = fromJsonSchema({ type: "object" });
const confirm = (message) =>
  inputRequired.elicit({ message, requestedSchema: { type: "object", properties: { sure: { type: "boolean" } } } });

// Answers what was put in, and asks for it when nothing was.
const asking = (inputRequests, requestState) => async (_, ctx) =>
  ctx.mcpReq.inputResponses === undefined
    ? inputRequired({ inputRequests, requestState })
    : text(JSON.stringify([ctx.mcpReq.inputResponses, ctx.mcpReq.requestState()]));

function make({ era }) {
  const server = new McpServer(
    { name: "era server of two", version: "1.2.3" },
    { capabilities: { logging: {}, resources: { subscribe: true, listChanged: true }, prompts: { listChanged: true } } },
  );
  const tool = (name, run) => server.registerTool(name, { description: `does ${name}`, inputSchema: anything }, run);
  const progress = (ctx, n) =>
    ctx.mcpReq.notify({ method: "notifications/progress", params: { progressToken: ctx.mcpReq._meta.progressToken, progress: n, total: 3 } });

  tool("plain", (given) => text(`plain ${JSON.stringify(given)}`));
  tool("fail", () => ({ isError: true, ...text("it failed") }));
  tool("refuse", () => {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "not like this");
  });
  tool("ask", asking({ q: confirm("are you sure?") }, "one \u00e9 \"state\""));
  tool("sample", asking({
    q: inputRequired.createMessage({ messages: [{ role: "user", content: { type: "text", text: "say it" } }], maxTokens: 5 }),
  }, "sampling"));
  tool("roots", asking({ q: inputRequired.listRoots() }, "rooting"));
  tool("twice", async (_, ctx) => {
    switch (ctx.mcpReq.requestState()) {
      case undefined:
        return inputRequired({ inputRequests: { first: confirm("once?") }, requestState: "after one" });
      case "after one":
        return inputRequired({ inputRequests: { second: confirm("twice?") }, requestState: "after two" });
    }
    return text("asked twice");
  });
  tool("steps", async (_, ctx) => {
    for (const n of [1, 2, 3]) await progress(ctx, n);
    return text("stepped");
  });
  tool("slow", async (_, ctx) => {
    await progress(ctx, 1);
    await new Promise((resolve) => ctx.mcpReq.signal.addEventListener("abort", resolve));
    return text("too late");
  });
  tool("change", async (_, ctx) => {
    await ctx.mcpReq.log("info", { said: "changing" }, "era");
    await server.server.sendToolListChanged();
    await server.server.sendResourceListChanged();
    await server.server.sendPromptListChanged();
    await server.server.sendResourceUpdated({ uri: "era://one" });
    return text("changed");
  });
  server.registerResource("one", "era://one", {}, (uri) => ({ contents: [{ uri: uri.href, text: "one" }] }));
  server.registerPrompt("greet", { argsSchema: z.object({ who: completable(z.string(), () => ["world"]) }) }, ({ who }) => ({
    messages: [{ role: "user", content: { type: "text", text: `greet ${who}` } }],
  }));
  if (era === "legacy") {
    server.server.setRequestHandler("resources/subscribe", () => ({}));
    server.server.setRequestHandler("resources/unsubscribe", () => ({}));
  }
  return server;
}

serveStdio(make);

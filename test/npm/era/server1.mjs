// A server made with the first line of the TypeScript SDK, in any of its eras.
//
//   node server1.mjs PACKAGE
//
// PACKAGE is the name under which npm ci installed one release of the SDK. The
// tools exist to make the server say everything that a server of its era can.
const sdk = process.argv[2];
const { Server } = await import(`${sdk}/server/index.js`);
const { StdioServerTransport } = await import(`${sdk}/server/stdio.js`);
const types = await import(`${sdk}/types.js`);

const server = new Server(
  { name: `era server of ${sdk}`, version: "1.2.3" },
  {
    capabilities: {
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true },
      logging: {},
      completions: {},
    },
  },
);

const text = (said) => ({ content: [{ type: "text", text: said }] });
const tell = (method, params) => server.notification({ method, params });
const ask = (method, params) => server.request({ method, params }, types.ResultSchema);

const tools = {
  plain: ({ arguments: given }) => text(`plain ${JSON.stringify(given)}`),
  fail: () => ({ isError: true, ...text("it failed") }),
  refuse: () => {
    throw new types.McpError(types.ErrorCode.InvalidParams, "not like this");
  },
  sample: async () =>
    text(JSON.stringify(await ask("sampling/createMessage", {
      messages: [{ role: "user", content: { type: "text", text: "say it" } }],
      maxTokens: 5,
    }))),
  roots: async () => text(JSON.stringify(await ask("roots/list", {}))),
  steps: async ({ _meta }) => {
    for (const progress of [1, 2, 3]) {
      await tell("notifications/progress", { progressToken: _meta.progressToken, progress, total: 3 });
    }
    return text("stepped");
  },
  // Says that it has begun, and then does nothing until nobody waits for it.
  slow: async ({ _meta }, { signal }) => {
    await tell("notifications/progress", { progressToken: _meta.progressToken, progress: 1 });
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return text("too late");
  },
  change: async () => {
    await tell("notifications/message", { level: "info", logger: "era", data: { said: "changing" } });
    await tell("notifications/tools/list_changed", {});
    await tell("notifications/resources/list_changed", {});
    await tell("notifications/prompts/list_changed", {});
    await tell("notifications/resources/updated", { uri: "era://one" });
    return text("changed");
  },
};
if (types.ElicitRequestSchema !== undefined) {
  tools.ask = async () =>
    text(JSON.stringify(await ask("elicitation/create", {
      message: "are you sure?",
      requestedSchema: { type: "object", properties: { sure: { type: "boolean" } } },
    })));
}

const handle = (schema, answer) => server.setRequestHandler(schema, answer);
handle(types.ListToolsRequestSchema, () => ({
  tools: Object.keys(tools).map((name) => ({ name, description: `does ${name}`, inputSchema: { type: "object" } })),
}));
handle(types.CallToolRequestSchema, ({ params }, extra) => tools[params.name](params, extra));
handle(types.ListResourcesRequestSchema, () => ({ resources: [{ uri: "era://one", name: "one" }] }));
handle(types.ReadResourceRequestSchema, ({ params }) => ({ contents: [{ uri: params.uri, text: "one" }] }));
handle(types.SubscribeRequestSchema, () => ({}));
handle(types.UnsubscribeRequestSchema, () => ({}));
handle(types.ListPromptsRequestSchema, () => ({ prompts: [{ name: "greet", arguments: [{ name: "who" }] }] }));
handle(types.GetPromptRequestSchema, ({ params }) => ({
  messages: [{ role: "user", content: { type: "text", text: `greet ${params.arguments?.who}` } }],
}));
handle(types.CompleteRequestSchema, () => ({ completion: { values: ["world"], total: 1 } }));
handle(types.SetLevelRequestSchema, () => ({}));

await server.connect(new StdioServerTransport());
process.stdin.on("end", () => process.exit(0));

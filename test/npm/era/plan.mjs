// What every client says, whatever it is made with.

export function record() {
  return {
    answers: [],
    asked: [],
    heard: [],
    text() {
      const sorted = (list) => list.map((one) => JSON.stringify(one)).sort();
      return JSON.stringify({ answers: this.answers, asked: sorted(this.asked), heard: sorted(this.heard) }, null, 1);
    },
  };
}

// request sends one request; before and after are what differs by era.
export async function plan(seen, { request, elicits, before, after }) {
  const note = async (what, asking) => {
    const answer = { what };
    seen.answers.push(answer); // in the order of asking
    try {
      answer.result = await asking;
    } catch (error) {
      answer.error = { code: error.code ?? null, message: error.message };
    }
  };
  const call = (name, options, given) => note(name, request("tools/call", { name, arguments: given ?? {} }, options));

  const { tools } = await request("tools/list", {});
  const offered = tools.map((tool) => tool.name);
  await note("resources/list", request("resources/list", {}));
  await note("prompts/list", request("prompts/list", {}));
  await before();

  await call("plain", {}, { odd: "h\u00e9llo \u2028 \ud83d\ude00 \u0000", big: 12345678901234567890, list: [1, [], {}] });
  await call("fail");
  await call("refuse");
  await call("no such tool");
  await call("sample");
  await call("roots");
  if (elicits && offered.includes("ask")) await call("ask");
  if (elicits && offered.includes("twice")) await call("twice");
  // How many steps are told is up to the SDK: some drop what is still on its
  // way to the callback when the answer comes.
  await call("steps", { onprogress: () => {} });
  const stop = new AbortController();
  await call("slow", { signal: stop.signal, onprogress: () => stop.abort("enough") });
  await Promise.all([1, 2, 3, 4].map((n) => call("plain", {}, { n })));
  await note("prompts/get", request("prompts/get", { name: "greet", arguments: { who: "you" } }));
  await note("completion/complete", request("completion/complete", {
    ref: { type: "ref/prompt", name: "greet" },
    argument: { name: "who", value: "w" },
  }));
  await note("resources/read", request("resources/read", { uri: "era://one" }));
  await call("change");
  // Servers may tell of a change after they have answered.
  const told = ["message", "tools/list_changed", "resources/list_changed", "prompts/list_changed", "resources/updated"];
  const missing = () => told.filter((what) => !seen.heard.some(({ method }) => method === `notifications/${what}`));
  const deadline = Date.now() + 300_000;
  while (missing().length > 0 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 5));
  if (missing().length > 0) throw new Error(`not told: ${missing()}`);
  await after();
}

// The SDK's first version, of which most hosts of MCP are made: over HTTP, and over stdio with the service behind it.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { check, fullUrl, key, load, plain, report, slowUrl, url } from "../ready.mjs";

const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");
const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");

const bin = fileURLToPath(new URL("../../../bin/decision.js", import.meta.url));
const overHttp = (address, bearer = key) =>
  new StreamableHTTPClientTransport(new URL(address), {
    requestInit: { headers: { authorization: `Bearer ${bearer}` } },
  });
const overStdio = () =>
  new StdioClientTransport({
    command: process.execPath,
    args: [bin, "mcp", "--url", new URL("/", url).href],
    env: { DECISION_API_KEY: key },
  });

async function withClient(transport, run) {
  const client = new Client({ name: "ready", version: "1" });
  await client.connect(transport);
  try {
    await run(client);
  } finally {
    await client.close();
  }
}

const DECIDE = {
  state: "I was charged twice for one order. Give me my money back today!",
  questions: {
    intent: {
      type: "choice",
      instructions: "What does the customer want?",
      criteria: { refund: "Wants money back", cancel: "Wants to end a subscription" },
    },
    angry: { type: "noul", instructions: "The customer is angry." },
    urgency: { type: "score", instructions: "How urgent is this?", criteria: ["can wait", "today"] },
  },
};
const RANK = { state: "A paper jam.", question: "Which helps?", candidates: ["Open tray 2.", "Buy ink."] };

for (const [where, open] of [
  ["HTTP", () => overHttp(url)],
  ["stdio", overStdio],
]) {
  await check(`over ${where}, every tool gives the plain contract's numbers`, () =>
    withClient(open(), async (client) => {
      const { tools } = await client.listTools(); // from now on the client checks results by the output schemas
      assert.deepEqual(tools.map(({ name }) => name).sort(), ["decide", "models", "rank"]);
      for (const [name, path, given] of [
        ["decide", "/v1/systemone", DECIDE],
        ["rank", "/v1/rank", RANK],
      ]) {
        const { structuredContent } = await client.callTool({ name, arguments: given });
        const { latency_ms: _, ...told } = structuredContent;
        const { latency_ms: __, ...expected } = await plain(path, given);
        assert.deepEqual(told, expected);
      }
      const { structuredContent } = await client.callTool({ name: "models", arguments: {} });
      assert.equal(structuredContent.models.length, 1);
    }),
  );
  await check(`over ${where}, arguments that hosts write in other forms are taken`, () =>
    withClient(open(), async (client) => {
      const { structuredContent } = await client.callTool({
        name: "rank",
        arguments: { ...RANK, model: null },
      });
      assert.equal(structuredContent.ranked.length, 2);
      const questions = JSON.stringify(DECIDE.questions);
      const called = await client.callTool({ name: "decide", arguments: { ...DECIDE, questions } });
      assert.deepEqual(Object.keys(called.structuredContent.answers), Object.keys(DECIDE.questions));
    }),
  );
  await check(`over ${where}, an error says what was expected`, () =>
    withClient(open(), async (client) => {
      const result = await client.callTool({ name: "rank", arguments: { ...RANK, candidates: ["a"] } });
      assert.equal(result.isError, true);
      assert.match(result.content[0].text, /candidates: Expected at least 2 elements/);
    }),
  );
}

await check("a wrong key is refused, and the right one goes on working", async () => {
  await assert.rejects(
    withClient(overHttp(url, "wrong"), async () => {}),
    /valid key|Unauthorized|401/i,
  );
  await withClient(overHttp(url), async (client) => client.callTool({ name: "models", arguments: {} }));
});

await check("a full queue is told as a result, and the tools are still listed", () =>
  withClient(overHttp(fullUrl), async (client) => {
    const { isError, content } = await client.callTool({ name: "rank", arguments: RANK });
    assert.equal(isError, true);
    assert.match(content[0].text, /queue is full.* Try again after/);
    assert.equal((await client.listTools()).tools.length, 3);
  }),
);

await check("the deadline is told, and the client's own timeout works", () =>
  withClient(overHttp(slowUrl), async (client) => {
    const { isError, content } = await client.callTool({ name: "rank", arguments: RANK });
    assert.equal(isError, true);
    assert.match(content[0].text, /deadline/);
    await assert.rejects(
      client.callTool({ name: "rank", arguments: RANK }, undefined, { timeout: 100 }),
      /timed out/i,
    );
  }),
);

report();

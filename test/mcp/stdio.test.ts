import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import { mcpParts } from "../../src/mcp/parts.ts";
import { serveOverStdio } from "../../src/mcp/stdio.ts";

const parts = await mcpParts();
const INITIALIZE =
  '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}';
const models = (id: string) =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"models","arguments":{}}}`;

/** Serves these lines. @returns the lines of the answer, and the errors that were logged */
async function serve(lines: readonly (string | Buffer)[]) {
  const output = new PassThrough();
  const errors: string[] = [];
  await serveOverStdio({
    ...parts,
    ask: async () => ({ status: 200, headers: {}, body: '{"models":[]}' }),
    input: (async function* () {
      for (const line of lines) yield Buffer.concat([Buffer.from(line), Buffer.from("\n")]);
    })(),
    output,
    onError: ({ message }) => errors.push(message),
  });
  output.end();
  const answers = (await output.toArray()).join("").split("\n").slice(0, -1);
  return { answers, errors };
}

describe("MCP over standard input and output", () => {
  it("answers a first message behind a byte order mark", async () => {
    const { answers } = await serve([`\ufeff${INITIALIZE}`]);
    assert.equal(answers.length, 1);
    assert.equal(JSON.parse(String(answers[0])).result.serverInfo.name, "typed-decisions");
  });

  it("answers under the id as it was sent", async () => {
    const { answers } = await serve([INITIALIZE, models("9007199254740993"), models('"9007199254740993"')]);
    assert.deepEqual(
      answers.slice(1).map((line) => /"id":([^,}]+)/.exec(line)?.[1]),
      ["9007199254740993", '"9007199254740993"'],
    );
  });

  for (const [what, line, code] of [
    ["is not JSON", "Content-Length: 12", -32_700],
    ["is not UTF-8", Buffer.from([0xff, 0xfe, 0x7b]), -32_700],
    ["is no message", "[]", -32_600],
    ["is a message without a version", '{"id":1,"method":"ping"}', -32_600],
    ["has an id that is none", models("[1]"), -32_600],
    ["is nested too deeply", models(`${"[".repeat(5_000)}${"]".repeat(5_000)}`), -32_600],
  ] as const)
    it(`refuses a line that ${what}, and answers the next`, async () => {
      const { answers, errors } = await serve([INITIALIZE, line, models("1")]);
      const [, refused, answered] = answers.map((text) => JSON.parse(text));
      assert.deepEqual([refused.id, refused.error.code], [null, code]);
      assert.ok(errors.length === 1 && !String(errors).includes("\n"), String(errors));
      assert.equal(answered.id, 1);
      assert.ok(answered.result);
    });

  it("skips blank lines", async () => {
    assert.deepEqual(await serve(["", " \r"]), { answers: [], errors: [] });
  });
});

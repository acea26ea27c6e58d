import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { EXAMPLES, type Example } from "../../playground/examples.ts";
import { LANGUAGES, type Language, snippetOf } from "../../playground/snippets.ts";
import { type Body, KEY, Service } from "../service/service.ts";

let service: Service;
const folder = mkdtempSync(path.join(tmpdir(), "snippets-"));
before(async () => {
  service = await Service.start([], { DECISION_API_KEY: KEY });
});
after(async () => {
  rmSync(folder, { recursive: true });
  await service.stop();
});

/** What the model says, in the words of `expected`. */
function saidIn(body: Body, { operation }: Example): Readonly<Record<string, string>> {
  if (operation === "rank") return { best: body.ranked[0]?.candidate ?? "" };
  const likeliest = Object.entries(body.answers).map(([name, { probabilities }]) => {
    const [[label] = [""]] = Object.entries(probabilities).toSorted(([, a], [, b]) => b - a);
    return [name, label];
  });
  return Object.fromEntries(likeliest);
}

describe("the examples of the playground", () => {
  for (const example of EXAMPLES) {
    it(`come out right with the embedded model: ${example.name}`, async () => {
      const { operation, body, expected } = example;
      const headers = { "content-type": "application/json", authorization: `Bearer ${KEY}` };
      const reply = await service.post(`/v1/${operation}`, body, headers);
      assert.equal(reply.status, 200, reply.text);
      assert.deepEqual(saidIn(reply.body, example), expected);
    });
  }
});

const PROGRAMS: Readonly<Record<Language, { readonly file: string; readonly command: string }>> = {
  curl: { file: "ask.sh", command: "bash" },
  Python: { file: "ask.py", command: "python3" },
  TypeScript: { file: "ask.mjs", command: process.execPath }, // it has no types: each is inferred
};

/** Quotes, an order that JavaScript would change, digits, escapes, and every kind of value. */
const ODD: Example = {
  name: "odd values",
  operation: "systemone",
  body: `{
  "state": {"10": "it's \\"so\\" $HOME \`x\` \\\\n", "2": 12345678901234567890, "a": [1.0, true, false, null, [], {}], "中": "😀"},
  "questions": {"10": {"type": "noul", "instructions": "Is it?"}, "2": {"type": "noul", "instructions": "Is it late?"}}
}`,
  expected: {},
};

describe("the code that the playground shows", () => {
  for (const language of LANGUAGES) {
    for (const example of [EXAMPLES.find(({ operation }) => operation === "rank"), ODD]) {
      it(`sends the same request in ${language}: ${example?.name}`, async () => {
        assert.ok(example);
        const { operation, body } = example;
        const url = `http://127.0.0.1:${service.port}/v1/${operation}`;
        const { file, command } = PROGRAMS[language];
        const program = path.join(folder, file);
        const text = snippetOf(language, { url, operation, body, needsKey: true });
        assert.ok(!text.includes(KEY));
        writeFileSync(program, text);
        const env = { ...process.env, DECISION_API_KEY: KEY };
        const { status, stdout, stderr } = spawnSync(command, [program], { encoding: "utf8", env });
        assert.equal(status, 0, stderr);
        const headers = { "content-type": "application/json", authorization: `Bearer ${KEY}` };
        const direct = await service.post(`/v1/${operation}`, body, headers);
        const withoutTime = (reply: Body) => ({ ...reply, latency_ms: 0 });
        assert.deepEqual(withoutTime(JSON.parse(stdout)), withoutTime(direct.body));
      });
    }
  }
});

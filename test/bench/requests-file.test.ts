import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readRequests } from "../../bench/workloads/requests-file.ts";
import { invalidRequest } from "../../src/errors.ts";
import { checkRequest } from "../../src/library/checks.ts";

const RANK = '{"state": "s", "candidates": {"2": "a", "1": "b"}}';
const SYSTEMONE =
  '{"state": 1, "questions": {"q": {"type": "choice", "instructions": "?", "criteria": {"x": null, "y": "z"}}, "n": {"type": "noul", "instructions": "!"}}}';

describe("a file of one's own requests", () => {
  const read = (text: string, anyModel = false) =>
    readRequests({ name: "mine.jsonl", text }, checkRequest, { anyModel });

  it("sends each line as it is, then begins again", async () => {
    const workload = await read(`${RANK}\n\n${SYSTEMONE}\n`);
    const requests = [0, 1, 2].map((index) => workload.request(1, index));
    assert.deepEqual(
      requests.map(({ body }) => body),
      [RANK, SYSTEMONE, RANK],
    );
    const labels = { n: ["false", "true"], q: ["x", "y"] };
    assert.deepEqual(Object.fromEntries(requests[1]?.labels ?? []), labels);
    assert.deepEqual(Object.fromEntries(requests[0]?.labels ?? []), { "": ["1", "2"] });
  });

  const cases: { name: string; text: string; says: RegExp }[] = [
    { name: "a line that is not JSON", text: `${RANK}\n{`, says: /line 2: body: .*JSON/ },
    { name: "a line that is no object", text: "[]", says: /line 1: body: .*object/ },
    { name: "a line of neither kind", text: `\n\n{"state": "s"}`, says: /line 3: candidates/ },
    {
      name: "what the contract refuses",
      text: `${RANK}\n{"state": "s", "candidates": ["a"]}`,
      says: /mine\.jsonl, line 2: candidates: Expected at least 2 elements, got 1\.$/,
    },
    { name: "a file without a request", text: "\n \n", says: /holds no request/ },
  ];
  for (const { name, text, says } of cases) {
    it(`is refused with ${name}`, () => assert.rejects(read(text), says));
  }

  it("is checked in all but the model's name for a server whose models are not known", async () => {
    const other = RANK.replace("{", '{"model": "acme/other", ');
    await assert.rejects(read(other), /line 1: model: /);
    assert.equal((await read(other, true)).request(1, 0).body, other);
    const check = () =>
      Promise.reject(
        invalidRequest([
          { loc: ["body", "model"], msg: "Other.", type: "unsupported_model" },
          { loc: ["body", "candidates"], msg: "Twice.", type: "too_many" },
        ]),
      );
    const wrong = readRequests({ name: "x", text: other }, check, { anyModel: true });
    await assert.rejects(wrong, /line 1: candidates: Twice\.$/);
  });
});

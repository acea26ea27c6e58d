import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { RequestReader } from "../../bench/workloads/reader.ts";
import { ofAnyModel, readRequests } from "../../bench/workloads/requests-file.ts";
import { REQUEST_LIMITS } from "../../src/decisions/request.ts";
import { modelFacts, openModelPackage } from "../../src/models/package/package.ts";
import { embeddedModel } from "../support/package-root.ts";

const { minCandidates } = REQUEST_LIMITS;
const RANK = '{"state": "s", "candidates": {"2": "a", "1": "b"}}';
const SYSTEMONE =
  '{"state": 1, "questions": {"q": {"type": "choice", "instructions": "?", "criteria": {"x": null, "y": "z"}}, "n": {"type": "noul", "instructions": "!"}}}';

describe("a file of one's own requests", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "bench-requests-"));
  const file = path.join(folder, "mine.jsonl");
  let reader: RequestReader;
  before(async () => {
    reader = await RequestReader.open(modelFacts(await openModelPackage(embeddedModel)));
  });
  after(() => rmSync(folder, { recursive: true }));

  const read = (text: string) => {
    writeFileSync(file, text);
    return readRequests(file, (request) => reader.read(request));
  };

  it("sends each line as it is, then begins again", async () => {
    const workload = await read(`${RANK}\n\n${SYSTEMONE}\n`);
    const requests = [0, 1, 2].map((index) => workload.request(1, index));
    assert.deepEqual(
      requests.map(({ body, operation }) => [operation, body]),
      [
        ["rank", RANK],
        ["systemone", SYSTEMONE],
        ["rank", RANK],
      ],
    );
    assert.deepEqual(
      requests[1]?.labels,
      new Map([
        ["q", ["x", "y"]],
        ["n", ["false", "true"]],
      ]),
    );
    assert.deepEqual(requests[0]?.labels, new Map([["", ["1", "2"]]]));
  });

  const cases: { name: string; text: string; says: RegExp }[] = [
    { name: "a line that is not JSON", text: `${RANK}\n{`, says: /line 2: it is not JSON/ },
    { name: "a line that is no object", text: "[]", says: /line 1: it is not a JSON object/ },
    { name: "a line of neither kind", text: `\n\n{"state": "s"}`, says: /line 3: .*questions.*candidates/ },
    {
      name: "what the contract refuses",
      text: `${RANK}\n{"state": "s", "candidates": ["a"]}`,
      says: new RegExp(`line 2: candidates: Expected at least ${minCandidates} elements, got 1`),
    },
    { name: "a file without a request", text: "\n \n", says: /holds no request/ },
  ];
  for (const { name, text, says } of cases) {
    it(`is refused with ${name}`, () => assert.rejects(read(text), says));
  }

  it("is checked in all but the model's name for a server whose models are not known", async () => {
    const other = RANK.replace("{", '{"model": "acme/other", ');
    await assert.rejects(read(other), /line 1: model: /);
    const readForServer = (text: string) => {
      writeFileSync(file, text);
      return readRequests(
        file,
        ofAnyModel((request) => reader.read(request)),
      );
    };
    assert.equal((await readForServer(other)).request(1, 0).body, other);
    const wrong = '{"model": "acme/other", "state": "s", "candidates": ["a", "a"]}';
    await assert.rejects(readForServer(wrong), /line 1: candidates/);
  });
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ServiceError } from "../../src/errors.ts";
import { readJson } from "../../src/json/read.ts";
import { writeJson } from "../../src/json/write.ts";
import { fitArguments } from "../../src/mcp/arguments.ts";
import { mcpParts } from "../../src/mcp/parts.ts";
import { toJsonSchema } from "../../src/mcp/schemas.ts";

const { tools } = await mcpParts();
const [decide, rank] = tools.map(({ inputSchema }) => inputSchema);
const LIMITS = { maxBodyBytes: 1_000_000 };
const { signal } = new AbortController();
const fit = async (text: string, schema: object = decide ?? {}) =>
  writeJson(await fitArguments(await readJson(Buffer.from(text)), { ...schema }, LIMITS, { signal }));
const text = (value: unknown) => JSON.stringify(JSON.stringify(value));

const NOUL = { type: "noul", instructions: "a", criteria: { true: "b" } };
const CHOICE = { type: "choice", instructions: "a", criteria: { 10: "b", 9: null } };
const SCORE = { type: "score", instructions: "a", criteria: ["b", "c"] };

describe("the arguments of a tool", () => {
  for (const given of [
    '{"state":{"10":1,"2":12345678901234567890},"questions":{"q":{"type":"noul","instructions":null}}}',
    '{"state":"{\\"a\\":1}","questions":{"":{"type":"choice","instructions":"","criteria":{"b":"","a":null}}}}',
    '{"state":null,"questions":{"q":{"type":"score","instructions":"[1]","criteria":[null,"{}",""]}}}',
    '{"state":"","model":"twig","questions":"no JSON"}',
    '{"questions":"[1]","state":[[null,""]],"other":null}',
    '{"questions":"{\\"a\\":1,\\"a\\":2}"}',
    '{"questions":null,"q":{"type":"other","criteria":"{}"}}',
    '{"questions":{"q":{"type":"other","criteria":"{}","model":""},"r":null,"s":[],"t":"[]"}}',
  ])
    it(`stay as they are: ${given}`, async () => {
      assert.equal(await fit(given), given);
    });

  for (const nothing of ["null", '""'])
    it(`lack an optional member that is ${nothing}`, async () => {
      assert.equal(
        await fit(`{"state":"a","candidates":["b","c"],"question":${nothing},"model":${nothing}}`, rank),
        '{"state":"a","candidates":["b","c"]}',
      );
      const question = `{"type":"noul","instructions":"a","criteria":${nothing}}`;
      assert.equal(
        await fit(`{"questions":{"q":${question}},"model":${nothing}}`),
        '{"questions":{"q":{"type":"noul","instructions":"a"}}}',
      );
    });

  for (const question of [NOUL, CHOICE, SCORE])
    it(`may be texts that hold JSON: ${question.type}`, async () => {
      const { criteria, ...rest } = question;
      const wanted = `{"state":"a","questions":{"q":${JSON.stringify(question)}}}`;
      const withText = `{"type":"${rest.type}","instructions":"a","criteria":${text(criteria)}}`;
      for (const given of [
        text({ state: "a", questions: { q: question } }),
        text({ state: "a", questions: JSON.stringify({ q: question }) }),
        `{"state":"a","questions":${text({ q: question })}}`,
        `{"state":"a","questions":${text(JSON.stringify({ q: question }))}}`,
        `{"state":"a","questions":{"q":${text(question)}}}`,
        `{"state":"a","questions":{"q":${withText}}}`,
      ])
        assert.equal(await fit(given), wanted);
    });

  for (const candidates of [{ 2: "b", 1: "c" }, ["b", "[c]"]])
    it(`may have candidates as a text: ${JSON.stringify(candidates)}`, async () => {
      const wanted = `{"state":"a","candidates":${JSON.stringify(candidates)}}`;
      assert.equal(await fit(`{"state":"a","candidates":${text(candidates)}}`, rank), wanted);
      assert.equal(await fit(text({ state: "a", candidates: JSON.stringify(candidates) }), rank), wanted);
      const other = '{"state":"a","candidates":"b, c"}';
      assert.equal(await fit(other, rank), other);
    });

  it("keep the order and the digits of a text", async () => {
    const inner = '{"10":12345678901234567890,"9":1e3}';
    assert.equal(await fit(`{"questions":${JSON.stringify(inner)}}`), `{"questions":${inner}}`);
  });

  it("are read where a schema wants a number, a boolean or null", async () => {
    const schema = toJsonSchema(
      {
        type: "object",
        required: ["n", "b"],
        properties: {
          n: { type: "number" },
          b: { type: "boolean" },
          z: { type: "array", items: { type: "number" }, nullable: true },
        },
      },
      {},
    );
    assert.equal(
      await fit('{"n":"1.50","b":"true","z":["1",2,"a"]}', schema),
      '{"n":1.50,"b":true,"z":[1,2,"a"]}',
    );
    assert.equal(await fit('{"n":"","b":null,"z":"null"}', schema), '{"n":"","b":null,"z":null}');
  });

  it("pass errors and nothing on", async () => {
    const error = new ServiceError("INVALID_REQUEST", "a");
    assert.equal(await fitArguments(error, {}, LIMITS, { signal }), error);
    assert.equal(await fitArguments(undefined, {}, LIMITS, { signal }), undefined);
  });

  for (const given of [
    '{"state":{"10":[1,"\u00e9\\n",true,null,{}],"":[]},"questions":"q"}',
    '{"state":"\\u0001\ud83d\ude00","\u00e9":12345678901234567890}',
    '""',
    "[[],[1,2]]",
  ])
    it(`have the size of their JSON: ${given}`, async () => {
      const value = await readJson(Buffer.from(given));
      const size = Buffer.byteLength(writeJson(value));
      assert.deepEqual(await fitArguments(value, {}, { maxBodyBytes: size }, { signal }), value);
      const refused = await fitArguments(value, {}, { maxBodyBytes: size - 1 }, { signal });
      assert.ok(refused instanceof ServiceError && refused.kind === "BODY_TOO_LARGE", String(refused));
      assert.match(refused.message, new RegExp(`at most ${size - 1} bytes as JSON, got more`));
    });

  it("are at most as deep as a body, wherever the levels come from", async () => {
    const nested = (levels: number) => `${'{"a":['.repeat(levels / 2)}1${"]}".repeat(levels / 2)}`;
    const fitTo = async (levels: number) =>
      fitArguments(
        await readJson(Buffer.from(`{"questions":${JSON.stringify(nested(levels))}}`)),
        decide ?? {},
        LIMITS,
        { signal },
      );
    assert.ok((await fitTo(98)) instanceof Map);
    const refused = await fitTo(100);
    assert.ok(refused instanceof ServiceError);
    const loc = ["body", "questions", ...Array.from({ length: 99 }, (_, i) => (i % 2 === 0 ? "a" : 0))];
    await assert.rejects(readJson(Buffer.from(`{"questions":${nested(100)}}`)), { issues: refused.issues });
    assert.deepEqual(refused.issues[0]?.loc, loc);
  });

  it("are counted in slices, whatever they hold", async () => {
    let turns = 0;
    const tiny = await readJson(Buffer.from(`{"state":[${"[],".repeat(300_000)}1]}`));
    let ms = 0;
    const clock = {
      now() {
        ms += 1_000; // each step takes a whole slice
        return ms;
      },
      pause: async () => {
        turns += 1;
      },
    };
    assert.ok((await fitArguments(tiny, {}, { maxBodyBytes: 2 ** 21 }, { signal, clock })) instanceof Map);
    assert.ok(turns > 70, `${turns} turns`);
  });
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readJson } from "../src/client/json.ts";
import { canonicalSchema } from "../src/dialects/mcp/schemas.ts";
import { difference } from "../src/documents.ts";

const same = (one: object, other: object) => {
  const [wanted, given] = [one, other].map((schema) => {
    const json = readJson(JSON.stringify(schema)) ?? null;
    return canonicalSchema(json, json);
  });
  return difference(wanted, given, []) === undefined;
};
const all = ["string", "number", "boolean", "object", "array", "null"];
const property = (schema: object) => ({ type: "object", properties: { a: schema } });

describe("two schemas of MCP tools are the same", () => {
  for (const [what, one, other] of [
    ["any value and a list of all types", { description: "x" }, { type: all, items: { type: all } }],
    [
      "any value and alternatives of all types",
      {},
      { anyOf: all.map((type) => ({ type, description: "y" })) },
    ],
    [
      "a nullable schema and a list of types",
      { type: "object", nullable: true },
      { type: ["null", "object"] },
    ],
    [
      "a nullable schema and two alternatives",
      { type: "object", maxProperties: 4, nullable: true },
      { description: "x", anyOf: [{ type: "object", maxProperties: 4 }, { type: "null" }] },
    ],
    ["oneOf and anyOf", { oneOf: [{ const: 1 }, { const: 2 }] }, { anyOf: [{ enum: [1] }, { enum: [2] }] }],
  ] as const)
    it(`if they are ${what}`, () => {
      assert.ok(same(property(one), property(other)));
      assert.ok(same({ items: one }, { items: other }));
    });

  for (const [what, one, other] of [
    ["any value and a list without null", {}, { type: all.slice(0, -1) }],
    ["any value and all types with a bound", {}, { type: all, maxLength: 3 }],
    [
      "any value and alternatives of which one is bounded",
      {},
      { anyOf: all.map((type) => ({ type, minItems: 1 })) },
    ],
    ["a nullable schema and one that is not", { type: "object", nullable: true }, { type: "object" }],
    [
      "two alternatives and one of them",
      { oneOf: [{ type: "object" }, { type: "array" }] },
      { type: "object" },
    ],
  ] as const)
    it(`but not if they are ${what}`, () => {
      assert.ok(!same(property(one), property(other)));
    });
});

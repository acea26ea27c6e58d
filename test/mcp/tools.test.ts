import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import type { AnySchemaObject } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { toJsonSchema } from "../../src/mcp/schemas.ts";
import { listTools } from "../../src/mcp/tools.ts";
import { isRecord } from "../../src/records.ts";
import { packageRoot } from "../support/package-root.ts";

const document = JSON.parse(readFileSync(path.join(packageRoot, "generated/openapi.typed.json"), "utf8"));
const tools = listTools(document);
const exampleOf = (route: string, name: string) =>
  document.paths[route].post.responses["200"].content["application/json"].examples[name].value;

function promised(schema: object | undefined): AnySchemaObject {
  assert.ok(schema);
  return { ...schema };
}

describe("the tools of MCP", () => {
  it("are decide, rank and models, with titles and annotations", () => {
    assert.deepEqual(
      tools.map(({ name }) => name),
      ["decide", "rank", "models"],
    );
    for (const { title, description, annotations } of tools) {
      assert.ok(title && description);
      const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations ?? {};
      assert.deepEqual(
        [readOnlyHint, destructiveHint, idempotentHint, openWorldHint],
        [true, false, true, false],
      );
    }
  });

  // strict: a keyword or format that JSON Schema does not know is an error
  const ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true });
  for (const { name, inputSchema, outputSchema } of tools)
    it(`have schemas without references: ${name}`, () => {
      const text = JSON.stringify([inputSchema, outputSchema]);
      assert.doesNotMatch(text, /\$ref|"nullable"|"discriminator"/);
      ajv.compile(inputSchema);
      ajv.compile(promised(outputSchema));
    });

  it("have types everywhere, and items in each array", () => {
    for (const { name, inputSchema, outputSchema } of tools)
      for (const schema of [inputSchema, outputSchema]) checkTypes(schema, name);
  });

  it("allow any JSON where the contract does", () => {
    const [decide] = tools.map(({ inputSchema }) => ajv.compile(inputSchema));
    for (const any of [null, "a", 1, true, {}, { a: [[[1]]] }, [], [1, null, {}], [[1], ["a", {}]]])
      for (const type of ["noul", "choice"])
        for (const criteria of [
          { false: any, true: any },
          { true: "a", false: null },
        ]) {
          const question = { type, instructions: any, criteria };
          assert.ok(
            decide?.({ state: any, questions: { q: question } }),
            JSON.stringify([any, decide?.errors]),
          );
        }
  });

  it("take the contract's examples and refuse what it refuses", () => {
    const [decide, rank, models] = tools.map(({ inputSchema }) => ajv.compile(inputSchema));
    for (const example of Object.values<{ value: unknown }>(
      document.paths["/v1/systemone"].post.requestBody.content["application/json"].examples,
    ))
      assert.ok(decide?.(example.value), JSON.stringify(decide?.errors));
    const question = { type: "noul", instructions: "a", criteria: null };
    assert.ok(decide?.({ state: 1, questions: { q: question } }), "criteria may be null");
    assert.ok(!decide?.({ state: 1, questions: {} }));
    assert.ok(!decide?.({ state: 1, questions: { q: { ...question, type: "other" } } }));
    assert.ok(!rank?.({ state: 1 }));
    assert.ok(models?.({}));
    assert.ok(!models?.({ a: 1 }));
  });

  it("promise the contract's answers", () => {
    const [decide, rank] = tools.map(({ outputSchema }) => ajv.compile(promised(outputSchema)));
    assert.ok(decide?.(exampleOf("/v1/systemone", "complaint")), JSON.stringify(decide?.errors));
    assert.ok(rank?.(exampleOf("/v1/rank", "labelled")), JSON.stringify(rank?.errors));
    assert.ok(!rank?.({ ...exampleOf("/v1/rank", "labelled"), more: 1 }));
  });

  it("need every operation in the document", () => {
    assert.throws(() => listTools({ paths: {} }), /no operation systemone/);
  });
});

/** Some model APIs refuse all tools of a host if one schema lacks a type, or has a list of them. */
function checkTypes(schema: unknown, place: string): void {
  assert.ok(isRecord(schema), place);
  const { type, anyOf, properties = {}, items, additionalProperties } = schema;
  assert.ok(typeof type === "string" || Array.isArray(anyOf), `${place} has no type`);
  assert.ok(!("oneOf" in schema), `${place} has oneOf`);
  assert.ok(type !== "array" || items !== undefined, `${place} has no items`);
  if (items !== undefined) checkTypes(items, `${place}[]`);
  if (typeof additionalProperties === "object") checkTypes(additionalProperties, `${place}.*`);
  if (Array.isArray(anyOf))
    for (const [index, part] of anyOf.entries()) checkTypes(part, `${place}|${index}`);
  for (const [name, part] of Object.entries(properties ?? {})) checkTypes(part, `${place}.${name}`);
}

describe("a schema of the contract as JSON Schema", () => {
  it("keeps properties that are named like keywords", () => {
    const schema = { type: "object", properties: { format: { type: "string", format: "uuid" } } };
    assert.deepEqual(toJsonSchema(schema, {}), {
      type: "object",
      properties: { format: { type: "string" } },
    });
  });

  it("says null as a type of its own", () => {
    const schema = { type: "array", nullable: true, description: "a", items: { enum: [1] } };
    const anyOf = [{ type: "array", items: { enum: [1] } }, { type: "null" }];
    assert.deepEqual(toJsonSchema(schema, {}), { description: "a", anyOf });
  });

  it("refuses references that lead nowhere or in a circle", () => {
    assert.throws(() => toJsonSchema({ $ref: "#/a" }, {}), /nothing at #\/a/);
    assert.throws(() => toJsonSchema({ $ref: "#/a" }, { a: { $ref: "#/a" } }), /refers to itself/);
  });
});

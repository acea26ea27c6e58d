import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Document, OpenAPIBackend } from "openapi-backend";
import { staleFiles } from "../../scripts/generate.ts";
import { forAjv } from "../../src/contract/schema.ts";
import { ISSUE_TYPES } from "../../src/errors.ts";
import { document, operations, resolvedDocument } from "./document.ts";
import { call, fakeContract } from "./fake-contract.ts";
import { assertDeclared } from "./response-check.ts";

const schemas = resolvedDocument.components.schemas;
const TEMPERATURE = 4.136820402388508;

describe("the contract", () => {
  it("is valid OpenAPI 3.0", async () => {
    const definition = forAjv(document as unknown as Document); // what is being tested
    await new OpenAPIBackend({ definition, strict: true, ajvOpts: { discriminator: true } }).init();
  });

  it("has generated files that are up to date", async () => {
    assert.deepEqual(await staleFiles(), []);
  });

  it("has no construct in a schema for which generated clients need another dependency", () => {
    const text = JSON.stringify(schemas);
    assert.doesNotMatch(text, /"pattern":|"format":"(date|date-time|uuid)"/);
  });

  it("lists the issue types that the code can report, each explained", () => {
    const type = schemas.ValidationIssue?.properties?.type;
    assert.deepEqual(type?.enum, [...ISSUE_TYPES]);
    const explained = [...(type?.description ?? "").matchAll(/^- `(\w+)`: \S/gm)].map(([, name]) => name);
    assert.deepEqual(explained, [...ISSUE_TYPES]);
  });

  it("declares the errors of inference, and a 4xx wherever the error schema leaves room for one", () => {
    for (const { operationId, responses } of operations) {
      const statuses = Object.keys(responses).join(" ");
      if (["systemone", "rank"].includes(operationId)) {
        assert.equal(statuses, "200 401 405 413 422 429 500 503 504");
      } else {
        assert.equal(
          statuses,
          ["getHealth", "getReady", "getLivez"].includes(operationId) ? "200 503" : "200 405",
        );
      }
    }
  });

  it("uses every schema, but for the issues that no schema can refer to", () => {
    const used = new Set(
      [...JSON.stringify(document).matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name),
    );
    const unused = Object.keys(schemas).filter((name) => !used.has(name));
    assert.deepEqual(unused, ["ValidationIssue"]);
  });

  it("names no schema like the type that generators make for an operation's response", () => {
    const taken = operations.map(({ operationId }) => `${operationId}response`.toLowerCase());
    assert.deepEqual(
      Object.keys(schemas).filter((name) => taken.includes(name.toLowerCase())),
      [],
    );
  });

  for (const { operationId, responses } of operations) {
    for (const [status, { headers, content }] of Object.entries(responses)) {
      for (const [mediaType, { examples = {} }] of Object.entries(content)) {
        it(`shows what ${operationId} answers with ${status}`, () => {
          assert.notDeepEqual(Object.keys(examples), []);
          const shown = Object.entries(headers).map(([name, { example }]) => [name, String(example)]);
          const received = { ...Object.fromEntries(shown), "content-type": mediaType };
          for (const { value } of Object.values(examples)) {
            assertDeclared(operationId as never, Number(status), received, value); // from the contract itself
          }
        });
      }
    }
  }

  for (const { operationId, requestBody } of operations) {
    for (const [name, { value }] of Object.entries(
      requestBody?.content["application/json"]?.examples ?? {},
    )) {
      it(`accepts its own example "${name}" of a ${operationId} request`, async () => {
        const contract = await fakeContract();
        assert.equal((await call(contract, operationId as "rank", value)).status, 200); // both have bodies
      });
    }
  }

  it("shows answers whose probabilities follow from their scores", () => {
    const answers = Object.values(example("systemone", "complaint").answers);
    for (const { probabilities, scores, confidence } of answers) {
      assertSoftmax(Object.values(scores), Object.values(probabilities));
      assert.deepEqual(Object.keys(scores), Object.keys(probabilities));
      assert.equal(confidence, Math.max(...Object.values(probabilities)));
    }
    const { noul, score } = { noul: answers[1], score: answers[2] };
    assert.equal(noul?.noul, noul?.probabilities.true);
    const levels = Object.entries(score?.probabilities ?? {}).map(([level, p]) => Number(level) * p);
    assert.equal(
      score?.score,
      levels.reduce((sum, part) => sum + part),
    );
    const { ranked } = example("rank", "labelled");
    assertSoftmax(
      ranked.map(({ score }) => score),
      ranked.map(({ probability }) => probability),
    );
  });
});

interface ExampleAnswer {
  readonly probabilities: Readonly<Record<string, number>>;
  readonly scores: Readonly<Record<string, number>>;
  readonly confidence: number;
  readonly noul?: number;
  readonly score?: number;
}
interface ExampleBody {
  readonly answers: Readonly<Record<string, ExampleAnswer>>;
  readonly ranked: readonly { readonly score: number; readonly probability: number }[];
}

function example(operationId: string, name: string): ExampleBody {
  const operation = operations.find((candidate) => candidate.operationId === operationId);
  const value = operation?.responses["200"]?.content["application/json"]?.examples?.[name]?.value;
  return value as ExampleBody; // has passed the schema in another test
}

function assertSoftmax(scores: readonly number[], probabilities: readonly number[]): void {
  const weights = scores.map((score) => Math.exp(score / TEMPERATURE));
  const total = weights.reduce((sum, weight) => sum + weight);
  for (const [i, weight] of weights.entries()) {
    assert.ok(Math.abs(weight / total - (probabilities[i] ?? Number.NaN)) < 1e-12);
  }
}

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { staleFiles } from "../../scripts/generate.ts";
import { ISSUE_TYPES } from "../../src/errors.ts";
import { assertValid, document, operations, readDocument, resolvedDocument } from "./document.ts";
import { call, fakeContract } from "./fake-contract.ts";
import { assertDeclared } from "./response-check.ts";

const schemas = resolvedDocument.components.schemas;
const plain = readDocument("openapi");
const TEMPERATURE = 4.136820402388508;

describe("the contract", () => {
  it("is valid OpenAPI 3.0 in both forms", async () => {
    await assertValid(document);
    await assertValid(plain);
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

  it("declares the errors of each operation, and none of those that belong to none", () => {
    for (const { operationId, responses } of operations) {
      const statuses = Object.keys(responses).join(" ");
      const isProbe = ["getHealth", "getReady", "getLivez"].includes(operationId);
      if (["systemone", "rank"].includes(operationId))
        assert.equal(statuses, "200 401 413 422 429 500 503 504");
      else assert.equal(statuses, isProbe ? "200 503" : "200");
    }
  });

  it("uses every schema, but for the issues that no schema of the plain form can refer to", () => {
    const unusedIn = (form: Readonly<Record<string, unknown>>) => {
      const references = JSON.stringify(form).matchAll(/#\/components\/schemas\/(\w+)/g);
      const used = new Set([...references].map(([, name]) => name));
      return Object.keys(schemas).filter((name) => !used.has(name));
    };
    assert.deepEqual(unusedIn(document), []);
    assert.deepEqual(unusedIn(plain), ["ValidationIssue"]);
  });

  it("is the same for generators, but for the types that some of them cannot handle", () => {
    assert.deepEqual(differences(document, plain), [
      "/paths/*/parameters",
      "/paths/~1health/get/responses/503/content/application~1json/schema",
      "/paths/~1ready/get/responses/503/content/application~1json/schema",
      "/paths/~1livez/get/responses/503/content/application~1json/schema",
      "/components/parameters",
      "/components/schemas/NoulQuestion/properties/criteria",
      "/components/schemas/RankRequest/properties/candidates",
      "/components/schemas/ErrorBody/properties/detail",
      "/components/schemas/ValidationIssue/properties/loc/items",
    ]);
  });

  it("has no union without a discriminator for generators", () => {
    const text = JSON.stringify(plain, (_, value) => (isUntagged(value) ? "an untagged union" : value));
    assert.doesNotMatch(text, /an untagged union|x-plain/);
  });

  it("opens the schema of every answer that a minor version may extend, and closes those of all others", () => {
    const isClosed = (name: string) => schemas[name]?.additionalProperties === false;
    const open = Object.keys(schemas).filter((name) => schemas[name]?.type === "object" && !isClosed(name));
    assert.deepEqual(open, [
      "ModelList",
      "ServedModel",
      "TunedQuestion",
      "Health",
      "Liveness",
      "ServiceLimits",
    ]);
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

/** Outermost schemas and parameters that differ between two documents. */
function differences(one: unknown, other: unknown, place = ""): string[] {
  if (JSON.stringify(one) === JSON.stringify(other)) return [];
  const isSchema = /\/(schema|items|parameters|schemas\/\w+\/properties\/\w+)$/.test(place);
  const isLoc = place.endsWith("/loc");
  if ((isSchema && !isLoc) || !isNode(one) || !isNode(other))
    return [place.replace(/^\/paths\/.*\/parameters$/, "/paths/*/parameters")];
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  const found = [...names].flatMap((name) =>
    differences(one[name], other[name], `${place}/${name.replaceAll("/", "~1")}`),
  );
  return [...new Set(found)];
}

function isNode(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function isUntagged(value: unknown): boolean {
  return isNode(value) && "oneOf" in value && !("discriminator" in value);
}

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

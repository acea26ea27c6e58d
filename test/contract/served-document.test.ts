import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ModelFacts } from "../../src/inference/ports.ts";
import { modelFacts, openModelPackage } from "../../src/models/package/package.ts";
import { servedDocument } from "../../src/served-document.ts";
import { embeddedModel } from "../support/package-root.ts";
import { document, operations } from "./document.ts";
import { assertDeclared } from "./response-check.ts";

const MODEL: ModelFacts = {
  id: `acme/Other@${"a".repeat(40)}`,
  revision: "a".repeat(40),
  aliases: ["acme/Other", "Other", "other"],
  version: "v9",
  releaseDate: "2026-01-02",
  description: "another model",
  temperature: 2.5,
  showsLabels: false,
  limits: { maxStateQuestionTokens: 4096, maxCandidateTokens: 100 },
};

const embedded = modelFacts(await openModelPackage(embeddedModel));
const served = servedDocument(document, MODEL);
const text = JSON.stringify(served);

describe("the document that a server gives", () => {
  it("is the written one where the embedded model is served, but for what that model says of itself", () => {
    const own = JSON.stringify(servedDocument(document, embedded));
    const shown = embedded.description;
    const written = JSON.stringify(document)
      .replace(
        "32.5M-parameter token-tree encoder for typed decisions in English and, with less certainty, other languages",
        shown,
      )
      .replace("with the embedded model)", "with the model that is served here)");
    assert.equal(own, written);
  });

  it("speaks of no other model than the served one", () => {
    assert.doesNotMatch(text, /twig|4\.1368|2,048/i);
    assert.match(
      text,
      /softmax\(scores \/ temperature\)`\. The temperature is fixed by the model:\\n *2\.5\./,
    );
    assert.match(text, /4,096 and 100 with the model that is served here/);
    assert.match(text, /at most 100 tokens, special tokens included; got 134/);
  });

  it("does not say that the embedded model's scores are the served model's", () => {
    assert.doesNotMatch(text, /"summary":"[^"]*embedded/);
    assert.equal(text.match(/the scores are made up/g)?.length, 2);
  });

  it("names the port that the service listens on", () => {
    const servers = (port: number) => servedDocument(document, embedded, port).servers;
    const shown = [{ url: "http://127.0.0.1:9000", description: "Where this service listens" }];
    assert.deepEqual(servers(9000), shown);
    for (const port of [0, 8700]) assert.deepEqual(servers(port), document.servers);
  });

  it("has the paths and schemas of the written one", () => {
    const shapes = (node: unknown): unknown => Reflect.get(node as object, "schemas");
    assert.deepEqual(Object.keys(served.paths as object), Object.keys(document.paths as object));
    assert.deepEqual(shapes(served.components), shapes(document.components));
  });

  it("shows the served model's names, limits and temperature", () => {
    const health = exampleOf("/health", "get", "200");
    assert.equal(health.$ref, "#/components/examples/Ready");
    const ready = at(served, "components", "examples", "Ready", "value");
    assert.deepEqual(
      [ready.model, ready.aliases, ready.temperature, ready.model_version],
      [MODEL.id, MODEL.aliases, 2.5, "v9"],
    );
    assert.equal(at(ready, "limits").max_candidate_tokens, 100);
    assert.equal(at(ready, "limits").max_body_bytes, 2_097_152);
    const [listed] = at(exampleOf("/v1/models", "get", "200"), "value").models as object[];
    assert.deepEqual(listed, {
      id: MODEL.id,
      name: MODEL.id,
      aliases: MODEL.aliases,
      task: "typed-decisions",
      description: MODEL.description,
      release_date: MODEL.releaseDate,
      revision: MODEL.revision,
    });
    const requests = at(
      served,
      "paths",
      "/v1/systemone",
      "post",
      "requestBody",
      "content",
      "application/json",
      "examples",
    );
    assert.equal(at(requests, "structured", "value").model, "other");
  });

  it("shows answers that follow from their scores at the served temperature", () => {
    for (const [path, operation] of [
      ["/v1/systemone", "systemone"],
      ["/v1/rank", "rank"],
    ] as const) {
      const { value } = exampleOf(path, "post", "200");
      const { headers } =
        operations.find(({ operationId }) => operationId === operation)?.responses["200"] ?? {};
      const shown = Object.entries(headers ?? {}).map(([name, { example }]) => [name, String(example)]);
      const received = { ...Object.fromEntries(shown), "content-type": "application/json" };
      assertDeclared(operation, 200, received, value);
      const body = value as { answers?: object; ranked?: { score: number; probability: number }[] };
      for (const answer of Object.values(body.answers ?? {}))
        assertSoftmax(Object.values(answer.scores), Object.values(answer.probabilities));
      if (body.ranked)
        assertSoftmax(
          body.ranked.map(({ score }) => score),
          body.ranked.map(({ probability }) => probability),
        );
    }
  });
});

function exampleOf(path: string, method: string, status: string): Record<string, unknown> {
  const examples = at(
    served,
    "paths",
    path,
    method,
    "responses",
    status,
    "content",
    "application/json",
    "examples",
  );
  return Object.values(examples)[0] as Record<string, unknown>;
}

function at(node: unknown, ...names: readonly string[]): Record<string, unknown> {
  return names.reduce<unknown>((place, name) => Reflect.get(place as object, name), node) as Record<
    string,
    unknown
  >;
}

function assertSoftmax(scores: readonly number[], shares: readonly number[]): void {
  const weights = scores.map((score) => Math.exp(score / MODEL.temperature));
  const total = weights.reduce((sum, weight) => sum + weight);
  for (const [i, weight] of weights.entries())
    assert.ok(Math.abs(weight / total - (shares[i] ?? Number.NaN)) < 1e-12);
}

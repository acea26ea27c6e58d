import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createContractFor } from "../src/app.ts";
import type { Engine, ModelFacts } from "../src/inference/ports.ts";
import { document } from "./contract/document.ts";

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
/** Nothing here asks it anything. */
const engine = { model: MODEL } as Engine;
const served = async (port?: number) => (await createContractFor(engine, port)).document;

describe("the document that a service gives", () => {
  it("is the contract, whatever model is served", async () => {
    assert.deepEqual(await served(), document);
  });

  it("names the port that the service listens on", async () => {
    const shown = [{ url: "http://127.0.0.1:9000", description: "Where this service listens" }];
    assert.deepEqual((await served(9000)).servers, shown);
    for (const port of [0, 8700]) assert.deepEqual((await served(port)).servers, document.servers);
  });

  it("says in its texts only what holds for every model", () => {
    const texts = JSON.stringify(withoutExamples(document)).replace(
      "The examples\\nin this document show the embedded model, typed-decisions/Twig-32M;",
      "",
    );
    assert.doesNotMatch(texts, /twig|4\.1368|2,048|768/i);
  });

  it("has requests that any model takes", () => {
    const { post } = (document.paths as Record<string, Record<string, object>>)["/v1/systemone"] ?? {};
    const examples = JSON.stringify(Reflect.get(post ?? {}, "requestBody"));
    assert.match(examples, /"state"/);
    assert.doesNotMatch(examples, /"model"/);
  });
});

function withoutExamples(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutExamples);
  if (typeof node !== "object" || node === null) return node;
  return Object.fromEntries(
    Object.entries(node)
      .filter(([name]) => !["example", "examples"].includes(name))
      .map(([name, value]) => [name, withoutExamples(value)]),
  );
}

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createFastEngine } from "../packages/conformance/test/fast-engine.ts";
import { createApp, createContractFor } from "../src/app.ts";
import type { Engine, ModelFacts } from "../src/inference/engine.ts";
import { resolveOptions } from "../src/options/resolve.ts";
import { document } from "./contract/document.ts";
import { memoryLog } from "./server/doubles.ts";

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
/** An engine that is never called here. */
const engine = { model: MODEL } as Engine;
const served = async () => (await createContractFor(engine)).document;

describe("the document that a service gives", () => {
  it("is the contract, whatever model is served", async () => {
    assert.deepEqual(await served(), document);
  });

  it("names no address, so that its clients call the service that it came from", async () => {
    const app = await createApp(await createFastEngine(), {
      ...resolveOptions({}),
      explain: true,
      log: memoryLog(),
    });
    for (const [url, server] of [
      ["/openapi.json", "/"],
      ["/openapi.typed.json", "/"],
      ["/docs/contracts/typesafe.json", "/typesafe"],
      ["/docs/contracts/rerank.json", "/"],
      ["/docs/contracts/explain.json", "/"],
    ] as const) {
      const { servers } = (await app.inject({ url })).json();
      assert.deepEqual(
        servers.map((one: { url: string }) => one.url),
        [server],
        url,
      );
    }
    await app.close();
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

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { createApp, createContractFor } from "../src/app.ts";
import type { Engine, ModelFacts } from "../src/inference/ports.ts";
import { resolveOptions } from "../src/options/resolve.ts";
import { createFastEngine } from "./conformance/fast-engine.ts";
import { document } from "./contract/document.ts";
import { memoryLog } from "./server/doubles.ts";
import { packageRoot } from "./support/package-root.ts";

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
const served = async (origin?: string) => (await createContractFor(engine, origin)).document;

describe("the document that a service gives", () => {
  it("is the contract, whatever model is served", async () => {
    assert.deepEqual(await served(), document);
  });

  it("names the address that the service listens on", async () => {
    const shown = [{ url: "https://[::1]:9000", description: "Where this service listens" }];
    assert.deepEqual((await served("https://[::1]:9000")).servers, shown);
    for (const origin of [undefined, "http://127.0.0.1:8700"])
      assert.deepEqual((await served(origin)).servers, document.servers);
  });

  it("has scheme and host of a service, and of all addresses the loopback's", async () => {
    const tls = {
      cert: readFileSync(path.join(packageRoot, "test/support/tls/first.crt")),
      key: readFileSync(path.join(packageRoot, "test/support/tls/first.key")),
    };
    const given = { ...resolveOptions({}), log: memoryLog(), port: 9000 };
    for (const [options, origin] of [
      [{ host: "0.0.0.0", tls }, "https://127.0.0.1:9000"],
      [{ host: "fe80::1" }, "http://[fe80::1]:9000"],
      [{ socket: "/run/decision.sock" }, "http://127.0.0.1:8700"],
    ] as const) {
      const app = await createApp(await createFastEngine(), { ...given, ...options });
      const { body } = await app.inject({ url: "/openapi.json" });
      assert.equal(JSON.parse(body).servers[0].url, origin);
      await app.close();
    }
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

import assert from "node:assert/strict";
import { after, it } from "node:test";
import { createFastEngine } from "../../packages/conformance/test/fast-engine.ts";
import { createApp } from "../../src/app.ts";
import { assertDeclared } from "../contract/response-check.ts";

const silent = () => {};
const engine = await createFastEngine();
const app = await createApp(engine, {
  log: { debug: silent, info: silent, warn: silent, error: silent },
  maxConnections: 100,
  headersTimeoutMs: 20_000,
  bodyMemoryMb: 64,
});
after(async () => {
  await app.close();
  await engine.close();
});

async function ask(operation: "systemone" | "rank", payload: object) {
  const reply = await app.inject({ method: "POST", url: `/v1/${operation}`, payload });
  assertDeclared(operation, reply.statusCode, reply.headers, reply.json());
  assert.equal(reply.statusCode, 200, reply.body);
  return { told: reply.headers["x-decision-indistinct"], body: reply.json() };
}

const choice = (...labels: string[]) => {
  const criteria = Object.fromEntries(labels.map((label) => [label, null]));
  return { type: "choice", instructions: "Which?", criteria };
};

it("an answer says how many questions have candidates that are the same tokens", async () => {
  const questions = { a: choice("schon", "schön", "other"), b: choice("US", "us"), c: choice("yes", "no") };
  const { told, body } = await ask("systemone", { state: "Guten Tag.", questions });
  assert.equal(told, "2");
  const { probabilities } = body.answers.a;
  const [schon, umlaut] = Object.values(probabilities);
  assert.equal(schon, umlaut);
});

it("a ranking says it, too", async () => {
  const { told } = await ask("rank", {
    state: "Guten Tag.",
    candidates: ["Resume it.", "Résumé it.", "Stop."],
  });
  assert.equal(told, "1");
});

it("an answer with different candidates says nothing", async () => {
  const { told } = await ask("systemone", { state: "US", questions: { c: choice("yes", "no", "maybe") } });
  assert.equal(told, undefined);
});

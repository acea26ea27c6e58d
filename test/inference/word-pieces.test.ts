import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { openParts } from "../../src/models/architectures/bert-token-tree/tokenizer.ts";
import { embeddedModel } from "../support/package-root.ts";
import { EMBEDDED, encode, encodeAll, json } from "./long-texts.ts";

interface Golden {
  decisions: {
    state: string;
    question: string;
    candidates: string[];
    token_ids: { state: number[]; question: number[]; candidates: number[][] };
  }[];
}

test("every text of golden.json has exactly the golden token ids", async () => {
  const golden: Golden = JSON.parse(readFileSync(path.join(embeddedModel, "golden.json"), "utf8"));
  assert.ok(golden.decisions.length > 0);
  for (const { state, question, candidates, token_ids } of golden.decisions) {
    const encoded = await encodeAll([
      { role: "state", text: state, maxTokens: 2048 },
      { role: "question", text: question, maxTokens: 2048 },
      ...candidates.map((text) => ({ role: "candidate" as const, text, maxTokens: 768 })),
    ]);
    const want = [token_ids.state, token_ids.question, ...token_ids.candidates];
    assert.deepEqual(
      encoded.map((tokens) => (tokens instanceof Int32Array ? [...tokens] : tokens)),
      want,
    );
  }
});

test("an empty text has only the special tokens of its part", async () => {
  assert.deepEqual(await encode("state", ""), Int32Array.of(101, 102));
  assert.deepEqual(await encode("question", ""), Int32Array.of(102));
  assert.deepEqual(await encode("candidate", " \n"), Int32Array.of(101, 102));
});

test("a limit counts special tokens and is kept to the token", async () => {
  assert.equal(((await encode("state", "a ".repeat(2046))) as Int32Array).length, 2048);
  assert.deepEqual(await encode("state", "a ".repeat(2047)), { count: 2049, isExact: true });
  assert.deepEqual(await encode("question", "a ".repeat(2048)), { count: 2049, isExact: true });
  assert.deepEqual(await encode("candidate", "a ".repeat(767), 768), { count: 769, isExact: true });
});

test("long words are read: other characters, other tokens, and as many as their runs of 100 have", async () => {
  const [a, b] = [await encode("state", "a".repeat(200)), await encode("state", "b".repeat(200))];
  assert.ok(a instanceof Int32Array && b instanceof Int32Array);
  assert.notDeepEqual(a, b);
  const run = await encode("state", "a".repeat(100));
  assert.ok(run instanceof Int32Array);
  assert.deepEqual([...a], [101, ...run.slice(1, -1), ...run.slice(1, -1), 102]);
});

test("parts are left out after enough refusals, and the order of parts is kept across pieces", async () => {
  const long = { role: "candidate" as const, text: "a ".repeat(10_000), maxTokens: 768 };
  const short = { role: "candidate" as const, text: "a", maxTokens: 768 };
  const encoded = await encodeAll([short, long, long, short, long, long, short], 3);
  assert.ok(encoded.length >= 5 && encoded.length < 7);
  const isRefused = encoded.map((tokens) => !(tokens instanceof Int32Array));
  assert.deepEqual(isRefused.slice(0, 5), [false, true, true, false, true]);
});

test("an aborted signal ends tokenizing", async () => {
  const parts = [{ role: "state" as const, text: "a", maxTokens: 10 }];
  const options = { maxTooMany: 20, signal: AbortSignal.abort(new Error("gone")) };
  await assert.rejects(EMBEDDED.tokenizer.encodeParts(parts, options), /gone/);
});

test("a tokenizer whose tokens the model does not have, or without a token for the unknown, is refused", async () => {
  const words = 1 + Math.max(...Object.values<number>(JSON.parse(json).model.vocab));
  await openParts(json, words);
  const refused = (message: RegExp) => ({ kind: "INVALID_MODEL", message });
  await assert.rejects(
    openParts(json, words - 1),
    refused(/^tokenizer\.json has \d+ tokens, but the model knows/),
  );
  await assert.rejects(openParts("no JSON"), refused(/cannot be read as a tokenizer/));
  await assert.rejects(openParts(json.replaceAll("[UNK]", "[NOT]")), refused(/has no \[UNK\] token/));
});

const withPattern = (Regex: string) => {
  const file = JSON.parse(json);
  const steps = [
    file.pre_tokenizer,
    { type: "Split", pattern: { Regex }, behavior: "Isolated", invert: false },
  ];
  return JSON.stringify({ ...file, pre_tokenizer: { type: "Sequence", pretokenizers: steps } });
};

test("a tokenizer with alternatives of classes is read, one with patterns that could end the process is refused", async () => {
  await openParts(withPattern("[\\u0300-\\u0310]|(?<![иу])\\u0306|é{2}"));
  for (const pattern of ["(a+)+$", "(?:é+)+", "é+ü+", "a*a*b", "é(?=.*ü)", "(?=[²³])", "("])
    await assert.rejects(openParts(withPattern(pattern)), {
      kind: "INVALID_MODEL",
      message: /has patterns of another kind .*, expected alternatives of classes\.$/,
    });
});

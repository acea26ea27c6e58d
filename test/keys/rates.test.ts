import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it, mock } from "node:test";
import type { FastifyInstance } from "fastify";
import { createFastEngine } from "../../packages/conformance/test/fast-engine.ts";
import { createApp, createMetrics } from "../../src/app.ts";
import { digestOf, writeKeyFile } from "../../src/keys/key-file.ts";
import { KeyRates } from "../../src/keys/key-rates.ts";
import { KeyRing } from "../../src/keys/key-ring.ts";
import { resolveOptions } from "../../src/options/resolve.ts";
import { assertDeclared } from "../contract/response-check.ts";
import { FakeClock } from "../inference/fake-clock.ts";
import { memoryLog } from "../server/doubles.ts";

const REQUEST = {
  state: "The parcel is late.",
  questions: { q: { type: "noul", instructions: "Is it late?" } },
};
const ENTRIES = [
  { name: "free", digest: digestOf("free-key") },
  { name: "two", digest: digestOf("two-key"), requestsPerMinute: 2 },
];

describe("keys of a file", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "keys-"));
  const file = path.join(folder, "keys.txt");
  const log = memoryLog();
  let app: FastifyInstance;
  let ring: KeyRing;

  const ask = (key: string, headers = {}) =>
    app.inject({
      method: "POST",
      url: "/v1/systemone",
      headers: { authorization: `Bearer ${key}`, ...headers },
      payload: REQUEST,
    });
  const statuses = async (...keys: string[]) => {
    const found: number[] = [];
    for (const key of keys) found.push((await ask(key)).statusCode);
    return found;
  };

  before(async () => {
    writeFileSync(file, writeKeyFile(ENTRIES));
    ring = new KeyRing({ apiKey: "single-key", file });
    app = await createApp(await createFastEngine(), { ...resolveOptions({}), apiKey: ring, log });
  });
  after(async () => {
    await app.close();
    rmSync(folder, { recursive: true });
  });

  it("are accepted beside the single key, others are not", async () => {
    assert.deepEqual(
      await statuses("free-key", "single-key", "free", "", ENTRIES[0]?.digest ?? ""),
      [200, 200, 401, 401, 401],
    );
  });

  it("are refused with 429 and the time to wait, once their requests are used up", async () => {
    assert.deepEqual(await statuses("two-key", "two-key", "two-key", "free-key"), [200, 200, 429, 200]);
    const { statusCode, headers, body } = await ask("two-key");
    assertDeclared("systemone", statusCode, headers as Record<string, string>, JSON.parse(body));
    assert.ok(Number(headers["retry-after"]) >= 1 && Number(headers["retry-after"]) <= 60);
    assert.match(JSON.parse(body).detail, /used up its requests/);
  });

  it("are logged by name", async () => {
    await ask("free-key", { "x-request-id": "named" });
    const entry = log.entries.find(({ fields }) => fields.requestId === "named");
    assert.equal(entry?.fields.key, "free");
    assert.ok(!JSON.stringify(log.entries).includes("-key"));
  });

  it("follow the file when it is read again, and keep what they have used", async () => {
    writeFileSync(file, writeKeyFile([...ENTRIES.slice(1), { name: "new", digest: digestOf("new-key") }]));
    ring.reload();
    assert.deepEqual(await statuses("free-key", "new-key", "two-key", "single-key"), [401, 200, 429, 200]);
    writeFileSync(file, "broken");
    assert.throws(() => ring.reload(), /line 1 of .* is no key/);
    assert.deepEqual(await statuses("new-key", "single-key"), [200, 200]);
  });

  it("are told to be outdated by /health and a metric while the file cannot be read", async () => {
    const told = async () => {
      const metrics = await (await createMetrics(await createFastEngine(), log, ring)).write();
      const current = /^decision_keys_file_current (\d)$/m.exec(metrics.text)?.[1];
      return [(await app.inject({ url: "/health" })).json().keys_file, current];
    };
    for (const spoil of [() => writeFileSync(file, "broken"), () => rmSync(file)]) {
      writeFileSync(file, writeKeyFile(ENTRIES));
      ring.reload();
      assert.deepEqual(await told(), ["current", "1"]);
      spoil();
      assert.throws(() => ring.reload(), { kind: "INVALID_OPTION" });
      assert.deepEqual(await told(), ["outdated", "0"]);
      assert.deepEqual(await statuses("free-key"), [200]);
    }
  });
});

describe("a minute", () => {
  const clock = new FakeClock();
  const ratesOf = (bounds: ConstructorParameters<typeof KeyRates>[0]) =>
    new KeyRates(bounds, () => clock.now());

  it("passes, and another begins", () => {
    const rates = ratesOf({ requestsPerMinute: 1 });
    rates.takeRequest();
    clock.advance(20_000);
    assert.throws(() => rates.takeRequest(), { kind: "RATE_LIMITED", retryAfterSeconds: 40 });
    clock.advance(39_999);
    assert.throws(() => rates.takeRequest(), { kind: "RATE_LIMITED", retryAfterSeconds: 1 });
    clock.advance(1);
    rates.takeRequest();
  });

  it("lets the last request go beyond its tokens, and no other after it", () => {
    const rates = ratesOf({ tokensPerMinute: 10 });
    rates.takeTokens(9);
    rates.takeTokens(500);
    assert.throws(() => rates.takeTokens(1), { kind: "RATE_LIMITED" });
    assert.throws(() => rates.takeRequest(), { kind: "RATE_LIMITED" });
  });

  it("takes back what was not used, unless it has passed", () => {
    const rates = ratesOf({ tokensPerMinute: 10 });
    const giveBack = rates.takeTokens(10);
    giveBack(4);
    const later = rates.takeTokens(4);
    clock.advance(60_000);
    rates.takeTokens(10);
    later(4);
    assert.throws(() => rates.takeTokens(1), { kind: "RATE_LIMITED" });
  });

  it("is counted without the clock of the calendar, which may be set back", () => {
    mock.timers.enable({ apis: ["Date"], now: 10_000_000 });
    try {
      const rates = new KeyRates({ requestsPerMinute: 1 });
      rates.takeRequest();
      mock.timers.setTime(1_000_000);
      assert.throws(
        () => rates.takeRequest(),
        ({ retryAfterSeconds }: { retryAfterSeconds: number }) => retryAfterSeconds <= 60,
      );
    } finally {
      mock.timers.reset();
    }
  });
});

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { head, WireClient } from "../server/wire.ts";
import { packageRoot } from "../support/package-root.ts";
import {
  answerOf,
  type Headers,
  heavy,
  KEY,
  MARK,
  NOUL,
  Service,
  SMALL,
  SMALL_RANK,
  words,
} from "./service.ts";

async function withService(
  flags: readonly string[],
  run: (service: Service) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const service = await Service.start(flags, env);
  try {
    await run(service);
  } finally {
    assert.equal(await service.stop(), 0);
  }
}

/** A request that its caller may leave. */
function leavable(
  service: Service,
  body: object,
  headers: Headers = { "content-type": "application/json" },
): { leave(): void; gone: Promise<unknown> } {
  const controller = new AbortController();
  const gone = service.call("POST", "/v1/systemone", { body, headers, signal: controller.signal }).then(
    (reply) => assert.fail(`answered with ${reply.status}`),
    () => undefined,
  );
  return { leave: () => controller.abort(), gone };
}

test("a full queue refuses with 503 and Retry-After, after the checks that need no body and before all others", async () => {
  await withService(
    ["--queue-size", "1", "--max-batch-size", "1"],
    async (service) => {
      const headers = { "content-type": "application/json", authorization: `Bearer ${KEY}` };
      const running = leavable(service, heavy(50), headers);
      await service.until(({ running_requests }) => running_requests === 1);
      const queued = service.post("/v1/systemone", SMALL, headers);
      await service.until(({ queued_requests }) => queued_requests === 1);

      const tooLong = { state: `${MARK} ${words(4000)}`, questions: { q: NOUL } };
      const want: readonly (readonly [string, unknown, number, (typeof headers | object)?])[] = [
        ["a good request", SMALL, 503],
        ["too many tokens", tooLong, 503],
        ["no key", SMALL, 401, { "content-type": "application/json" }],
        ["a media type", SMALL, 422, { ...headers, "content-type": "text/plain" }],
        ["too many bytes", " ".repeat(2_097_153), 413],
        ["broken JSON", "{", 503],
        ["a wrong shape", { state: MARK }, 503],
        ["another model", { ...SMALL, model: MARK }, 503],
      ];
      for (const [name, body, status, otherHeaders] of want) {
        const reply = await service.post("/v1/systemone", body, { ...(otherHeaders ?? headers) });
        assert.equal(reply.status, status, `${name}: ${reply.text}`);
        if (status === 503) assert.equal(reply.headers["retry-after"], "1");
      }
      const full = await service.post("/v1/rank", SMALL_RANK, headers);
      assert.equal(full.status, 503);
      assert.equal(full.headers["retry-after"], "1");

      const health = await service.health();
      assert.equal(health.status, "ready", "a full queue is not unready");
      assert.equal(health.rejected_requests, 6);
      assert.equal(health.queued_requests, 1);
      assert.equal(health.queue_capacity, 1);
      assert.equal(health.completed_requests, 0);
      running.leave();
      await running.gone;
      assert.equal((await queued).status, 200);

      // Refused by their tokens, requests give their place back.
      for (let count = 0; count < 3; count += 1)
        assert.equal((await service.post("/v1/systemone", tooLong, headers)).status, 422);
      assert.equal((await service.post("/v1/systemone", SMALL, headers)).status, 200);
      const last = await service.health();
      assert.deepEqual(
        [last.completed_requests, last.rejected_requests, last.cancelled_requests, last.queued_requests],
        [2, 6, 1, 0],
      );
    },
    { DECISION_API_KEY: KEY },
  );
});

test("while the model computes, health answers; what callers have left is counted and not computed", async () => {
  await withService(["--max-batch-size", "1"], async (service) => {
    const running = leavable(service, heavy(50));
    await service.until(({ running_requests }) => running_requests === 1);
    for (let count = 0; count < 30; count += 1) {
      const health = await service.health();
      assert.equal(health.status, "ready");
      assert.equal(health.running_requests, 1);
    }
    const waiting = Array.from({ length: 5 }, (_, index) => leavable(service, heavy(50, index + 1)));
    await service.until(({ queued_requests }) => queued_requests === 5);
    const kept = service.post("/v1/systemone", SMALL);
    await service.until(({ queued_requests }) => queued_requests === 6);
    for (const { leave } of waiting) leave();
    await service.until(({ queued_requests }) => queued_requests === 1);
    running.leave();
    await Promise.all([running, ...waiting].map(({ gone }) => gone));
    // Six requests of half a minute each: answered in time only when they are given up.
    assert.equal((await kept).status, 200);
    const health = await service.health();
    assert.equal(health.cancelled_requests, 6);
    assert.equal(health.completed_requests, 1);
    assert.equal(health.queued_requests, 0);

    // Callers who leave while their body is on its way cost nothing.
    for (let count = 0; count < 20; count += 1) {
      const client = await WireClient.open(service.port);
      await client.send(head("POST /v1/rank", "Content-Type: application/json", "Content-Length: 100"), "{");
      client.close();
    }
    assert.equal((await service.post("/v1/rank", SMALL_RANK)).status, 200);
    const { completed_requests, model_batches, failed_requests } = await service.health();
    assert.deepEqual(
      [completed_requests, Number(model_batches) - Number(health.model_batches), failed_requests],
      [2, 1, 0],
    );
  });
});

test("the deadline ends a request with 504, and the next is answered", async () => {
  await withService(["--deadline-ms", "1500", "--max-batch-size", "1"], async (service) => {
    const { status: tokens } = await service.post("/v1/rank", { ...SMALL_RANK, state: words(5000) });
    assert.equal(tokens, 422, "the token limits come before the deadline");
    const replies = await Promise.all([
      service.post("/v1/systemone", heavy(50)),
      service.post("/v1/systemone", heavy(50, 1)),
    ]);
    // the other one waits, or is refused where it is known by then that it cannot be answered in time
    const late = replies.filter(({ status }) => status === 504);
    const refused = replies.filter(({ status }) => status === 503);
    assert.ok(late.length > 0);
    assert.equal(late.length + refused.length, 2);
    for (const { text, headers } of late) {
      assert.equal(typeof JSON.parse(text).detail, "string");
      assert.equal(headers["retry-after"], undefined);
    }
    await service.until(
      ({ running_requests, queued_requests }) => running_requests === 0 && queued_requests === 0,
    );
    // on a busy machine a small request may be late, too
    let { status } = await service.post("/v1/systemone", SMALL);
    let others = 0;
    for (; status !== 200; others += 1) {
      assert.ok(status === 503 || status === 504, String(status));
      ({ status } = await service.post("/v1/systemone", SMALL));
    }
    const health = await service.health();
    const unanswered = Number(health.timed_out_requests) + Number(health.rejected_requests);
    assert.equal(unanswered, late.length + refused.length + others);
    assert.equal(health.completed_requests, 1);
    assert.equal(health.cancelled_requests, 0);
    assert.equal(health.failed_requests, 0);
    assert.equal(JSON.parse((await service.call("GET", "/health")).text).limits.deadline_seconds, 1.5);
  });
});

test("while the model loads, the service says so, and answers once it is there", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "loading-"));
  const signal = path.join(folder, "load");
  const plant = path.join(packageRoot, "test/support/planted-fault.cjs");
  const service = await Service.startUnready({
    NODE_OPTIONS: `--require ${plant} --conditions="loads once there is ${signal}"`,
  });
  try {
    const ready = await service.call("GET", "/ready");
    assert.equal(ready.status, 503);
    assert.equal(JSON.parse(ready.text).status, "starting");
    for (const [target, body] of [
      ["/v1/systemone", SMALL],
      ["/v1/rank", SMALL_RANK],
    ] as const) {
      const { status, headers } = await service.post(target, body);
      assert.equal(status, 503);
      assert.equal(headers["retry-after"], "1");
    }
    assert.equal((await service.post("/v1/rank", "{")).status, 422, "shape comes before the queue");
    assert.equal((await service.call("GET", "/v1/models")).status, 200);
    await writeFile(signal, "");
    await service.until(({ status }) => status === "ready");
    assert.equal((await service.call("GET", "/ready")).status, 200);
    assert.equal((await service.post("/v1/systemone", SMALL)).status, 200);
  } finally {
    await service.stop();
    await rm(folder, { recursive: true });
  }
});

test("SIGTERM makes it unready at once, answers what it had accepted, refuses the rest and ends with 0", async () => {
  const service = await Service.start(["--max-batch-size", "1"]);
  const ended = once(service.process, "exit");
  const running = service.post("/v1/systemone", heavy(2));
  await service.until(({ running_requests }) => running_requests === 1);
  const queued = service.post("/v1/systemone", SMALL);
  await service.until(({ queued_requests }) => queued_requests === 1);
  const kept = await WireClient.open(service.port);
  await kept.send(head("GET /health"));
  assert.equal((await kept.read()).status, 200);
  service.process.kill("SIGTERM");
  await service.until(({ status }) => status === "draining");
  const ready = await service.call("GET", "/ready");
  assert.equal(ready.status, 503);
  for (const [target, body] of [
    ["/v1/systemone", SMALL],
    ["/v1/rank", SMALL_RANK],
  ] as const) {
    const reply = await service.post(target, body);
    assert.equal(reply.status, 503);
    assert.equal(reply.headers["retry-after"], "1");
  }
  const text = JSON.stringify(SMALL_RANK);
  await kept.send(
    head("POST /v1/rank", "Content-Type: application/json", `Content-Length: ${text.length}`),
    text,
  );
  const late = await kept.read();
  assert.equal(late.status, 503);
  assert.equal(late.headers["retry-after"], "1");
  kept.close();
  const answered = await running;
  assert.equal(answered.status, 200);
  assert.equal((await queued).status, 200);
  assert.ok(answerOf(answered.body, "q0").confidence > 0);
  const [code] = await ended;
  assert.equal(code, 0);
  await service.stop();
});

test("SIGTERM ends an idle service with an open connection", async () => {
  const service = await Service.start();
  const idle = await WireClient.open(service.port);
  await idle.send(head("GET /health"));
  await idle.read();
  assert.equal(await service.stop(), 0);
  idle.close();
});

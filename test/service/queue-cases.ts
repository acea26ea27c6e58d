import assert from "node:assert/strict";
import { test } from "node:test";
import { head, WireClient } from "../server/wire.ts";
import { type Client, type Headers, heavy, KEY, MARK, NOUL, SMALL, SMALL_RANK, words } from "./service.ts";

export interface QueueOptions {
  readonly queueSize?: number;
  readonly deadlineMs?: number;
  readonly apiKey?: string;
}
export interface BusyService {
  readonly service: Client;
  /** Releases the model if it was held. */
  release(): void;
}

/** A request that its caller may leave. */
function leavable(
  service: Client,
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

/**
 * @param start starts a service that computes one request at a time, and none before `release` where it can be held
 * @param parts size of requests that it is busy with for longer than a test takes
 * @param batches that are computed of one such request and a small one, after five others were left; undefined: not
 * known
 */
export function testQueue(
  start: (options: QueueOptions) => Promise<BusyService>,
  { parts, batches }: { readonly parts: number; readonly batches?: number },
): void {
  async function asked(options: QueueOptions, run: (busy: BusyService) => Promise<void>): Promise<void> {
    const busy = await start(options);
    try {
      await run(busy);
    } finally {
      busy.release();
      await busy.service.stop();
    }
  }

  test("a full queue refuses with 503 and Retry-After, after the checks that need no body and before all others", async () => {
    await asked({ queueSize: 1, apiKey: KEY }, async ({ service, release }) => {
      const headers = { "content-type": "application/json", authorization: `Bearer ${KEY}` };
      const running = leavable(service, heavy(parts), headers);
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
      release();
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
    });
  });

  test("while the model computes, /health answers, and cancelled requests are counted and not computed", async () => {
    await asked({}, async ({ service, release }) => {
      const running = leavable(service, heavy(parts));
      await service.until(({ running_requests }) => running_requests === 1);
      for (let count = 0; count < 30; count += 1) {
        const health = await service.health();
        assert.equal(health.status, "ready");
        assert.equal(health.running_requests, 1);
      }
      const waiting = Array.from({ length: 5 }, (_, index) => leavable(service, heavy(parts, index + 1)));
      await service.until(({ queued_requests }) => queued_requests === 5);
      const kept = service.post("/v1/systemone", SMALL);
      await service.until(({ queued_requests }) => queued_requests === 6);
      for (const { leave } of waiting) leave();
      await service.until(({ queued_requests }) => queued_requests === 1);
      running.leave();
      await Promise.all([running, ...waiting].map(({ gone }) => gone));
      release();
      // Of six such requests of a whole model, each takes half a minute: answered in time only when they are given up.
      assert.equal((await kept).status, 200);
      const health = await service.health();
      assert.equal(health.cancelled_requests, 6);
      assert.equal(health.completed_requests, 1);
      assert.equal(health.queued_requests, 0);
      if (batches !== undefined) assert.equal(health.model_batches, batches);

      // Callers that disconnect while sending a body do not use resources.
      for (let count = 0; count < 20; count += 1) {
        const client = await WireClient.open(service.port);
        await client.send(
          head("POST /v1/rank", "Content-Type: application/json", "Content-Length: 100"),
          "{",
        );
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
    await asked({ deadlineMs: 1500 }, async ({ service, release }) => {
      const { status: tokens } = await service.post("/v1/rank", { ...SMALL_RANK, state: words(5000) });
      assert.equal(tokens, 422, "the token limits come before the deadline");
      const replies = await Promise.all([
        service.post("/v1/systemone", heavy(parts)),
        service.post("/v1/systemone", heavy(parts, 1)),
      ]);
      release();
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
}

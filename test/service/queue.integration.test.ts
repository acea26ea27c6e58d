import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, describe, it } from "node:test";
import { head, WireClient } from "../server/wire.ts";
import { HeldMessages } from "../support/held-messages.ts";
import { FastService } from "./fast-client.ts";
import { answerOf, Service, SMALL, SMALL_RANK } from "./service.ts";

it("the deadline ends a request with 504, which is counted", async () => {
  let release = () => {};
  const beforeForest = () => new Promise<void>((resolve) => (release = resolve));
  const service = await FastService.start({ engine: { settings: { deadlineMs: 200 }, beforeForest } });
  try {
    const { status, headers, body } = await service.post("/v1/rank", SMALL_RANK);
    assert.deepEqual([status, typeof body.detail, headers["retry-after"]], [504, "string", undefined]);
    const { timed_out_requests, running_requests, failed_requests } = await service.health();
    assert.deepEqual([timed_out_requests, running_requests, failed_requests], [1, 0, 0]);
  } finally {
    release();
    await service.stop();
  }
});

describe("a service", () => {
  let service: Service;
  let held: HeldMessages;
  before(async () => {
    held = await HeldMessages.create();
    service = await Service.startUnready(["--max-batch-size", "1"], held.env);
  });
  after(async () => {
    await service.stop();
    await held.remove();
  });

  it("says that the model loads, and answers once it is there", async () => {
    const ready = await service.call("GET", "/ready");
    assert.equal(ready.status, 503);
    assert.equal(JSON.parse(ready.text).status, "starting");
    await assertTurnedAway();
    assert.equal((await service.post("/v1/rank", "{")).status, 422, "shape comes before the queue");
    assert.equal((await service.call("GET", "/v1/models")).status, 200);
    await held.release("load");
    await service.until(({ status }) => status === "ready");
    assert.equal((await service.call("GET", "/ready")).status, 200);
    const answer = service.post("/v1/systemone", SMALL);
    await held.release("score");
    assert.equal((await answer).status, 200);
  });

  it("is unready at once after SIGTERM, answers what it had accepted, refuses the rest and ends with 0", async () => {
    const ended = once(service.process, "exit");
    await held.hold("score");
    const running = service.post("/v1/systemone", SMALL);
    await service.until(({ running_requests }) => running_requests === 1);
    const queued = service.post("/v1/systemone", SMALL);
    await service.until(({ queued_requests }) => queued_requests === 1);
    const kept = await WireClient.open(service.port);
    await kept.send(head("GET /health"));
    assert.equal((await kept.read()).status, 200);
    service.process.kill("SIGTERM");
    await service.until(({ status }) => status === "draining");
    assert.equal((await service.call("GET", "/ready")).status, 503);
    await assertTurnedAway();
    const text = JSON.stringify(SMALL_RANK);
    await kept.send(
      head("POST /v1/rank", "Content-Type: application/json", `Content-Length: ${text.length}`),
      text,
    );
    const late = await kept.read();
    assert.equal(late.status, 503);
    assert.equal(late.headers["retry-after"], "1");
    kept.close();
    await held.release("score");
    const answered = await running;
    assert.equal(answered.status, 200);
    assert.equal((await queued).status, 200);
    assert.ok(answerOf(answered.body, "q").confidence > 0);
    const [code] = await ended;
    assert.equal(code, 0);
  });

  async function assertTurnedAway(): Promise<void> {
    for (const [target, body] of [
      ["/v1/systemone", SMALL],
      ["/v1/rank", SMALL_RANK],
    ] as const) {
      const { status, headers } = await service.post(target, body);
      assert.equal(status, 503);
      assert.equal(headers["retry-after"], "1");
    }
  }
});

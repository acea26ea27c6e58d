import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { writeTinyPackage } from "../models/tiny-package.ts";
import { Service } from "../service/service.ts";
import { type ReceivedSpan, startReceiver } from "./otlp.ts";

const CANARY = "xyzzytrace";
const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";
const BODY = {
  state: `The parcel is late. ${CANARY}`,
  questions: { [CANARY]: { type: "noul", instructions: `Is it late? ${CANARY}` } },
};

describe("a service with a collector", () => {
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  let log = "";
  let traceparents: (string | undefined)[] = [];

  before(async () => {
    receiver = await startReceiver();
    const modelPath = await mkdtemp(path.join(tmpdir(), "traces-"));
    await writeTinyPackage(modelPath);
    const flags = ["--model-path", modelPath, "--log-level", "info", "--log-format", "json"];
    const service = await Service.start(flags, {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    });
    const headers = {
      "content-type": "application/json",
      "x-request-id": "traced-1",
      traceparent: `00-${TRACE_ID}-${CALLER}-01`,
    };
    const first = await service.call("POST", "/v1/systemone", { body: BODY, headers });
    const second = await service.call("GET", `/${CANARY}?${CANARY}`);
    const unsampled = { ...headers, traceparent: `00-${TRACE_ID}-${CALLER}-00` };
    const third = await service.call("POST", "/v1/systemone", { body: BODY, headers: unsampled });
    traceparents = [first, second, third].map(({ headers: { traceparent } }) => String(traceparent));
    await service.stop(); // sends what is left
    ({ log } = service);
    await rm(modelPath, { recursive: true });
  });
  after(() => receiver.close());

  const named = (name: string): ReceivedSpan => {
    const [span, ...others] = receiver.spans.filter((each) => each.name === name);
    assert.ok(span !== undefined && others.length === 0, `one span ${name}`);
    return span;
  };

  it("continues the trace of its caller, and says so in the answer", () => {
    const span = named("systemone");
    assert.deepEqual([span.traceId, span.parentId], [TRACE_ID, CALLER]);
    assert.equal(traceparents[0], `00-${TRACE_ID}-${span.spanId}-01`);
    assert.equal(span.attributes["http.response.status_code"], 200);
    assert.equal(span.attributes["decision.pairs"], 2);
    assert.equal(span.attributes["decision.request_id"], "traced-1");
  });

  it("has a span for each step of an answer, one after the other, within the request", () => {
    const parent = named("systemone");
    const steps = ["tokenize", "queue", "forward"].map(named);
    const slack = 5; // ms: the clocks of start and steps are rounded differently
    let at = parent.start - slack;
    for (const { name, traceId, parentId, start, end } of steps) {
      assert.deepEqual([traceId, parentId], [TRACE_ID, parent.spanId], name);
      assert.ok(start >= at - 0.01 && end >= start, name);
      at = end;
    }
    assert.ok(at <= parent.end + slack);
  });

  it("begins a trace of its own where there is none, and sends nothing of one that is not sampled", () => {
    const [own] = receiver.spans.filter(({ traceId }) => traceId !== TRACE_ID);
    assert.equal(traceparents[1], `00-${own?.traceId}-${own?.spanId}-01`);
    assert.match(traceparents[2] ?? "", new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-00$`));
    assert.equal(receiver.spans.length, 5);
  });

  it("logs one line for each request, with times, tokens and the trace", () => {
    const lines = log
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const [line, ...others] = lines.filter(
      ({ requestId, msg }) => requestId === "traced-1" && msg === "request",
    );
    assert.equal(others.length, 1); // the one that is not sampled
    const { ms, queueMs, tokenizeMs, inferenceMs, inputTokens, pairs, traceId } = line;
    for (const each of [ms, queueMs, tokenizeMs, inferenceMs]) assert.ok(each >= 0 && each < 60_000);
    assert.ok(inputTokens > 10);
    assert.deepEqual([line.operation, line.status, pairs, traceId], ["systemone", 200, 2, TRACE_ID]);
  });

  it("puts nothing of a request into log or spans", () => {
    assert.ok(receiver.raw().includes("systemone"));
    assert.ok(!receiver.raw().includes(CANARY));
    assert.ok(!log.includes(CANARY));
  });
});

import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { afterEach, describe, it } from "node:test";
import { createTracing } from "../../src/telemetry/traces/otlp-tracing.ts";
import { readTraceSettings } from "../../src/telemetry/traces/trace-settings.ts";
import { startReceiver } from "./otlp.ts";

const before = { ...process.env };
afterEach(() => {
  process.env = { ...before };
});

/** Traces by the variables, and what was warned of. */
function tracingBy(env: Readonly<Record<string, string>>, now = () => 0) {
  Object.assign(process.env, env);
  const settings = readTraceSettings(env) ?? assert.fail();
  const warnings: string[] = [];
  let onSecond = () => {};
  const secondWarning = new Promise<void>((resolve) => {
    onSecond = resolve;
  });
  const tracing = createTracing(
    settings,
    "1.0.0",
    (message) => {
      warnings.push(message);
      if (warnings.length === 2) onSecond();
    },
    now,
  );
  const send = () =>
    tracing
      .begin({ headers: {}, method: "GET" } as IncomingMessage) // no more of it is read
      .end({ method: "GET", operation: "getHealth", status: 200, ms: 1, requestId: "1" });
  return { tracing, send, warnings, secondWarning };
}

describe("spans", () => {
  for (const [name, attributes, wanted] of [
    ["", "", "decision"],
    ["", "service.name=desk-router,k8s.pod.name=pod%2D7", "desk-router"],
    ["named", " service.name = desk-router , k8s.pod.name=pod-7", "named"],
  ] as const)
    it(`have the attributes of the environment: ${attributes}, ${name}`, async () => {
      const receiver = await startReceiver();
      const { tracing, send } = tracingBy({
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_RESOURCE_ATTRIBUTES: attributes,
        OTEL_SERVICE_NAME: name,
        OTEL_EXPORTER_OTLP_HEADERS: "x-a = one , x-b=two%20three",
      });
      send();
      await tracing.close();
      receiver.close();
      const { resource } = receiver.spans[0] ?? assert.fail();
      assert.equal(resource["service.name"], wanted);
      assert.equal(resource["service.version"], "1.0.0");
      assert.equal(resource["k8s.pod.name"], attributes === "" ? undefined : "pod-7");
      const [headers] = receiver.headers;
      assert.deepEqual([headers?.["x-a"], headers?.["x-b"]], ["one", "two three"]);
    });

  it("that cannot be sent are warned of, at most once a minute", async () => {
    const receiver = await startReceiver(400);
    const times = [0, 59_999, 60_000];
    const { tracing, send, warnings, secondWarning } = tracingBy(
      { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "1" },
      () => times.shift() ?? 0,
    );
    for (let count = 0; count < 3; count += 1) send();
    await tracing.close().catch(() => {}); // rejects with the failure, as the service expects
    await secondWarning;
    receiver.close();
    assert.deepEqual(new Set(warnings), new Set(["spans could not be sent to the collector, and are lost"]));
    assert.equal(warnings.length, 2);
    assert.equal(receiver.headers.length, 3);
  });
});

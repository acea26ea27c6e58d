import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readTraceSettings } from "../../src/telemetry/traces/trace-settings.ts";

const COLLECTOR = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };

describe("the variables of OpenTelemetry", () => {
  for (const [sampler, argument, sampledShare, isParentBased] of [
    [undefined, undefined, 1, true],
    ["always_on", undefined, 1, false],
    ["always_off", undefined, 0, false],
    ["traceidratio", "0.25", 0.25, false],
    ["parentbased_always_on", undefined, 1, true],
    ["parentbased_always_off", undefined, 0, true],
    ["parentbased_traceidratio", "0.25", 0.25, true],
    ["parentbased_traceidratio", undefined, 1, true],
    ["parentbased_traceidratio", "2", 1, true],
    ["xray", undefined, 1, true],
  ] as const)
    it(`choose what is sampled: ${sampler ?? "no sampler"}, ${argument ?? "no argument"}`, () => {
      const settings = readTraceSettings({
        ...COLLECTOR,
        OTEL_TRACES_SAMPLER: sampler,
        OTEL_TRACES_SAMPLER_ARG: argument,
      });
      assert.equal(settings?.sampledShare, sampledShare);
      assert.equal(settings?.isParentBased, isParentBased);
    });

  it("that are empty count as not set", () => {
    const names = [
      "OTEL_TRACES_SAMPLER",
      "OTEL_BSP_SCHEDULE_DELAY",
      "OTEL_EXPORTER_OTLP_PROTOCOL",
      "OTEL_SDK_DISABLED",
    ];
    for (const value of ["", " "]) {
      const env = Object.fromEntries(names.map((name) => [name, value]));
      const settings = readTraceSettings({ ...COLLECTOR, ...env });
      assert.deepEqual([settings?.sampledShare, settings?.isParentBased, settings?.warnings], [1, true, []]);
    }
  });

  for (const [name, value, why] of [
    ["OTEL_TRACES_SAMPLER_ARG", "", /it takes a number from 0 to 1, so all traces are sampled/],
    ["OTEL_TRACES_SAMPLER_ARG", " ", /it takes a number from 0 to 1/],
    ["OTEL_TRACES_SAMPLER_ARG", "half", /it takes a number from 0 to 1/],
    ["OTEL_TRACES_SAMPLER_ARG", "1.5", /it takes a number from 0 to 1/],
    ["OTEL_TRACES_SAMPLER", "xray", /this sampler is unknown/],
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", /spans are sent as http\/protobuf/],
    ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json", /spans are sent as http\/protobuf/],
    ["OTEL_TRACES_EXPORTER", "zipkin", /spans are sent by OTLP/],
    ["OTEL_PROPAGATORS", "b3", /only traceparent is read/],
    ["OTEL_SDK_DISABLED", "1", /it takes true or false/],
    ["OTEL_BSP_MAX_QUEUE_SIZE", "many", /it takes a whole number/],
    ["OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "3", /it has no effect/],
  ] as const)
    it(`that are not followed are named: ${name}=${value}`, () => {
      const env = { ...COLLECTOR, OTEL_TRACES_SAMPLER: "traceidratio", [name]: value };
      const settings = readTraceSettings(env);
      assert.equal(settings?.sampledShare, 1);
      assert.equal(settings?.warnings.length, 1, settings?.warnings.join());
      assert.match(settings?.warnings[0] ?? "", new RegExp(`^${name} is not followed: .*${why.source}`));
    });

  it("that choose OTLP without an endpoint send traces to the collector of this host", () => {
    const settings = readTraceSettings({ OTEL_TRACES_EXPORTER: "otlp" });
    assert.equal(settings?.endpoint, "http://localhost:4318");
    assert.deepEqual(settings?.warnings, []);
  });

  it("turn traces off", () => {
    assert.equal(readTraceSettings({}), undefined);
    assert.equal(readTraceSettings({ OTEL_TRACES_EXPORTER: "none" }), undefined);
    assert.equal(readTraceSettings({ OTEL_TRACES_EXPORTER: "otlp", OTEL_SDK_DISABLED: "true" }), undefined);
    assert.equal(readTraceSettings({ ...COLLECTOR, OTEL_SDK_DISABLED: "true" }), undefined);
    assert.equal(readTraceSettings({ ...COLLECTOR, OTEL_TRACES_EXPORTER: "none" }), undefined);
  });
});

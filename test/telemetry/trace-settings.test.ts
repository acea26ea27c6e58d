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

  it("turn traces off", () => {
    assert.equal(readTraceSettings({}), undefined);
    assert.equal(readTraceSettings({ ...COLLECTOR, OTEL_SDK_DISABLED: "true" }), undefined);
    assert.equal(readTraceSettings({ ...COLLECTOR, OTEL_TRACES_EXPORTER: "none" }), undefined);
  });
});

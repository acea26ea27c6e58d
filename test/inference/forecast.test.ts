import assert from "node:assert/strict";
import { test } from "node:test";
import { Forecast } from "../../src/inference/batches/forecast.ts";
import { Pace } from "../../src/inference/batches/pace.ts";

/** A millisecond for each token. */
function makeForecast(): Forecast {
  const pace = new Pace();
  for (let run = 0; run < 3; run++) pace.record(1_000, 1_000);
  return new Forecast(pace);
}

test("the forecast of a long request includes as much overtaking work as recent ones had", () => {
  const forecast = makeForecast();
  assert.equal(forecast.longMs(1_000, 0), 1_000);
  for (let batch = 0; batch < 100; batch++)
    forecast.noteBatch({ tokenCount: 100, longTokens: 50 }, { quantum: 100, now: 0 });
  assert.equal(Math.round(forecast.longMs(1_000, 0) ?? 0), 2_000);
});

test("measurements of overtaking work lose weight while no long request waits", () => {
  const forecast = makeForecast();
  for (let batch = 0; batch < 100; batch++)
    forecast.noteBatch({ tokenCount: 100, longTokens: 50 }, { quantum: 100, now: 0 });
  assert.equal(Math.round(forecast.longMs(1_000, 10_000) ?? 0), Math.round(1_000 / 0.75));
  assert.equal(Math.round(forecast.longMs(1_000, 120_000) ?? 0), 1_000);
  forecast.noteBatch({ tokenCount: 100, longTokens: 50 }, { quantum: 100, now: 120_000 });
  assert.equal(Math.round(forecast.longMs(1_000, 120_000) ?? 0), Math.round(1_000 / 0.95));
});

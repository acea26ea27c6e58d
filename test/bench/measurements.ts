import { type Measurement, measurement } from "../../bench/measure/measurement.ts";

/** A measurement of these rounds. */
export function figure(rounds: readonly number[], facts: Partial<Measurement> = {}): Measurement {
  return measurement(
    { name: "a.figure", title: "a figure", unit: "pairs/s", better: "higher", ...facts },
    rounds,
  );
}

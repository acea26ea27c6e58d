import assert from "node:assert/strict";
import { runConformance } from "../src/index.ts";

type Options = Parameters<typeof runConformance>[0];

/** Clauses that cannot be checked on a service without a key, and on one with a key. */
export const WITHOUT_KEY = [
  "auth.accepted",
  "auth.before-body",
  "auth.before-body-comes",
  "auth.challenge",
  "auth.each-request",
  "auth.elsewhere",
  "auth.missing",
  "auth.wrong",
];
export const WITH_KEY = ["auth.none-configured"];

/** Runs the checks: none may fail, and these and no others may be skipped. However slow the machine is, none is skipped for want of time. */
export async function assertKept(options: Options, skipped: readonly string[]): Promise<void> {
  const report = await runConformance({ maxSeconds: 3600, ...options });
  const of = (outcome: string) => report.results.filter((result) => result.outcome === outcome);
  assert.deepEqual(
    of("failed").map(({ id, came, curl }) => `${id}: ${came}\n${curl}`),
    [],
  );
  assert.deepEqual(
    of("skipped")
      .map(({ id }) => id)
      .toSorted(),
    skipped.toSorted(),
  );
  assert.equal(report.exitCode, 0);
  assert.equal(report.obstacle, undefined);
}

import assert from "node:assert/strict";
import { type Issue, ServiceError } from "../../src/errors.ts";

/** The issues that reading a request ends with. */
export async function issuesOf(reading: Promise<unknown>): Promise<readonly Issue[]> {
  const error = await reading.then(
    () => assert.fail("was accepted"),
    (error: unknown) => error,
  );
  assert.ok(error instanceof ServiceError, String(error));
  assert.equal(error.kind, "INVALID_REQUEST");
  return error.issues;
}

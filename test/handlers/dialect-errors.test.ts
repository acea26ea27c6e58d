import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { dialects } from "../../handlers/dialects.ts";
import { failureOf } from "../../src/contract/error-reply.ts";
import { type ErrorKind, ServiceError } from "../../src/errors.ts";
import { packageRoot } from "../support/package-root.ts";

/** What any operation that takes a key and a body may answer. */
const KINDS: readonly ErrorKind[] = [
  "KEY_MISSING",
  "UNAUTHORIZED",
  "BODY_TOO_LARGE",
  "INVALID_REQUEST",
  "RATE_LIMITED",
  "QUEUE_FULL",
  "OVERLOADED",
  "STARTING",
  "DRAINING",
  "DEADLINE_EXCEEDED",
  "BACKEND_FAILED",
  "INTERNAL",
];

type Operations = readonly { readonly id: string; readonly statuses: readonly string[] }[];

/** The operations of a dialect's document that take a body. */
function operationsOf(name: string): Operations {
  const file = path.join(packageRoot, "generated", `${name}.json`);
  const { paths } = JSON.parse(readFileSync(file, "utf8"));
  return Object.values<Record<string, { operationId: string; requestBody?: object; responses: object }>>(
    paths,
  )
    .flatMap((methods) => Object.values(methods))
    .filter(({ requestBody }) => requestBody !== undefined)
    .map(({ operationId: id, responses }) => ({ id, statuses: Object.keys(responses) }));
}

describe("the statuses of errors", () => {
  for (const { name, errorOf } of dialects)
    for (const { id, statuses } of operationsOf(name))
      it(`are declared by ${id} (${name})`, () => {
        for (const kind of KINDS) {
          const failure = failureOf(new ServiceError(kind, "A sentence."), "the-id");
          const status = errorOf?.(failure, id).status ?? failure.status;
          assert.ok(statuses.includes(String(status)), `${kind}: ${status} is not in ${statuses}`);
        }
      });
});

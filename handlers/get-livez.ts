import type { Handler } from "../src/contract/call.ts";

/** Whether this process can be expected to go on. It can while the model loads, and while it shuts down. */
export const getLivez: Handler<"getLivez"> = async ({ engine }) =>
  engine.health().isStuck
    ? {
        status: 503,
        body: { status: "stuck" },
        headers: { "retry-after": "1", "x-decision-error": "INTERNAL" },
      }
    : { status: 200, body: { status: "live" } };

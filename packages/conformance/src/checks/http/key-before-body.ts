import { excerpt } from "../../client/exchange.ts";
import { headOf } from "../../client/wire.ts";
import { OPERATIONS, SMALL_RANK } from "../../trial/operations.ts";
import type { Trial } from "../../trial/trial.ts";
import { WRONG } from "./near-misses.ts";

/** Time limit for a refusal. The body never comes, so a server that waits for it does not answer. Chosen. */
const REFUSAL_MS = 5000;
const TYPE = "Content-Type: application/json";

/** Sends requests without the right key and with incomplete bodies. @throws Broken if a refusal waits for the body */
export async function checkBeforeBody(trial: Trial): Promise<void> {
  const text = JSON.stringify(SMALL_RANK);
  const half = text.slice(0, text.length >> 1);
  const length = `Content-Length: ${text.length}`;
  const chunked = "Transfer-Encoding: chunked";
  const ways = [
    { name: "the head alone", lines: [TYPE, length], sent: "" },
    { name: "half a body", lines: [TYPE, length], sent: half },
    { name: "all but one byte of the body", lines: [TYPE, length], sent: text.slice(0, -1) },
    { name: "no chunk of a chunked body", lines: [TYPE, chunked], sent: "" },
    {
      name: "one chunk of several",
      lines: [TYPE, chunked],
      sent: `${half.length.toString(16)}\r\n${half}\r\n`,
    },
    { name: "a declared length that is too large", lines: [TYPE, "Content-Length: 99999999999"], sent: "{" },
    { name: "half a body of another media type", lines: ["Content-Type: text/plain", length], sent: half },
  ];
  const cases = ways.flatMap((way) =>
    [undefined, `Authorization: Bearer ${WRONG}`].flatMap((key) =>
      OPERATIONS.map(({ path }) => ({
        name: `${way.name}, ${path}, ${key === undefined ? "no key" : "a wrong key"}`,
        line: `POST ${path}`,
        lines: [...way.lines, ...(key === undefined ? [] : [key])],
        sent: way.sent,
      })),
    ),
  );
  await trial.each(
    cases,
    async ({ line, lines, sent }) => {
      const wire = await trial.wire(REFUSAL_MS);
      wire.send(headOf(trial.target, line, ...lines), sent);
      const reply = await wire.read();
      trial.expect(reply.status === 401, `${excerpt(reply)}, not 401`, wire);
    },
    cases.length, // one timeout is enough to show that the server waits
  );
}

import { excerpt, type Reply } from "../../client/exchange.ts";
import { at } from "../../client/json.ts";
import { type Check, checksOf } from "../../trial/check.ts";
import { RANK, SMALL_RANK, SYSTEMONE } from "../../trial/operations.ts";
import { nonce } from "../../trial/salts.ts";
import type { Trial } from "../../trial/trial.ts";
import { scoreOf, texts } from "../scored.ts";
import { counterOf } from "./server.ts";

/** Queues larger than this are not filled. Chosen. */
const LARGEST_QUEUE = 256;
/** Requests of a flood beyond the queue's capacity: those that may run already, and a margin. */
const MORE = 96;
/** Factor on the timeout of a flood's requests, since each waits for those before it. Chosen. */
const PATIENCE = 5;
/** Candidates per request of the two floods, at most the server's limit. Chosen. */
const FLOOD_CANDIDATES = [8, 48];

const SECONDS = /^[1-9][0-9]*$/;

/** Checks of a full queue. */
export const OVERLOAD_CHECKS: readonly Check[] = [
  ...checksOf("interface: Errors", {
    "overload.refused": {
      clause: "A full queue refuses requests with 503 and `Retry-After: 1`, and the server keeps working.",
      expected:
        "200 or 503 for each request of a flood, `detail` and `Retry-After: 1` (with OVERLOADED an estimate) with 503; then answers as before",
      isGentle: false,
      turn: "alone",
      run: async (trial: Trial) => {
        const { replies, refused } = await flood(trial);
        for (const reply of replies)
          trial.expect([200, 503, 504].includes(reply.status), `${excerpt(reply)} under load`, reply);
        await trial.infer(RANK, { ...SMALL_RANK, state: nonce() });
        if (refused.length === 0) trial.skip(`${replies.length} requests at once did not fill the queue`);
        for (const reply of refused) {
          const code = reply.headers["x-decision-error"];
          const isEstimate = code === "OVERLOADED";
          const isKnown = code === "QUEUE_FULL" || isEstimate || trial.profile !== "full";
          trial.expect(isKnown, `x-decision-error is ${code} with a full queue`, reply);
          const header = reply.headers["retry-after"] ?? "";
          const isFitting = isEstimate ? SECONDS.test(header) : header === "1";
          trial.expect(isFitting, `retry-after is ${JSON.stringify(header)} with 503 ${code}`, reply);
          trial.expect(at(reply.json, "detail") !== undefined, excerpt(reply), reply);
        }
      },
    },
  }),
  ...checksOf("contract: Health", {
    "overload.counted": {
      clause: "With a full queue the server stays ready, and `rejected_requests` counts refused requests.",
      expected:
        "200 from /health meanwhile; counters of rejected and completed requests that match the 503 and 200 received",
      isGentle: false,
      turn: "alone",
      run: async (trial: Trial) => {
        const { replies, refused, before, meanwhile, after } = await flood(trial);
        trial.expect(meanwhile.status === 200, `/health: ${excerpt(meanwhile)}`, meanwhile);
        if (refused.length === 0) trial.skip(`${replies.length} requests at once did not fill the queue`);
        const grown = (name: string) =>
          (counterOf(after.json, name) ?? 0) - (counterOf(before.json, name) ?? 0);
        const [rejected, completed] = [grown("rejected_requests"), grown("completed_requests")];
        const answered = replies.filter(({ status }) => status === 200).length;
        if (completed > answered)
          trial.skip("others use the server: its counters change without requests from here");
        trial.equal("the count of rejected requests", rejected, refused.length, after);
        trial.equal("the count of completed requests", completed, answered, after);
      },
    },
  }),
];

/** Sends more requests at once than the queue can hold, once per run. @throws CannotTell if the queue is too large */
function flood(trial: Trial) {
  return trial.shared("flood", () => sendFlood(trial));
}

async function sendFlood(trial: Trial) {
  const { queueCapacity, maxCandidates } = trial.facts.limits;
  if (queueCapacity > LARGEST_QUEUE)
    trial.skip(`a queue of ${queueCapacity} is too large to fill without harm`);
  const before = await trial.get("/health");
  const replies: Reply[] = [];
  let meanwhile = before;
  // a server that keeps up with the first flood gets one with more work
  const timeoutMs = trial.target.timeoutMs * PATIENCE;
  for (const few of FLOOD_CANDIDATES) {
    const candidates = Math.min(few, maxCandidates);
    const body = () => ({
      state: `${nonce()} ${"go ".repeat(20)}`,
      questions: { q: scoreOf(texts(candidates)) },
    });
    const sent = Array.from({ length: queueCapacity + MORE }, () =>
      trial.call("POST", SYSTEMONE, { body: body(), timeoutMs }),
    );
    // together, so that a failure of one leaves no promise unhandled
    const [health, answers] = await Promise.all([trial.get("/health"), Promise.all(sent)]);
    meanwhile = health;
    replies.push(...answers);
    if (replies.some(({ status }) => status !== 200)) break;
  }
  const refused = replies.filter(({ status }) => status === 503);
  return { replies, refused, before, meanwhile, after: await trial.get("/health") };
}

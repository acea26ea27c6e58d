import { setMaxListeners } from "node:events";
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Sends requests from callers that each wait for an answer before the next one. A refused caller sends the same body
 * again after the seconds in Retry-After, or after one. Only answers within the time count.
 *
 * @param load.callers  number of callers
 * @param load.body     gives the next body of POST /v1/systemone
 * @param load.answered called with the milliseconds of each answer with 200
 * @returns numbers of answers by status; "lost" or a code of Node.js for requests without an answer
 */
export async function retryingCallers(port, seconds, { callers, body, answered = () => {} }) {
  const agent = new Agent({ keepAlive: true });
  const statuses = { 200: 0 };
  const over = AbortSignal.timeout(seconds * 1000);
  setMaxListeners(Infinity, over);
  const caller = async () => {
    let text = body();
    while (!over.aborted) {
      const sentAt = performance.now();
      const reply = await post(port, text, { agent, signal: over }).catch((error) => error);
      if (over.aborted) return;
      const status = reply.status ?? reply.code ?? "lost";
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status === 200) {
        answered(performance.now() - sentAt);
        text = body();
        continue;
      }
      await sleep(Number(reply.retryAfter ?? 1) * 1000, undefined, { signal: over }).catch(() => {});
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  agent.destroy();
  return statuses;
}

function post(port, text, { agent, signal }) {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
    const sent = request(
      { host: "127.0.0.1", port, method: "POST", path: "/v1/systemone", agent, headers, signal },
      (response) => {
        const { statusCode: status, headers } = response;
        response.resume().on("error", reject);
        response.on("end", () => resolve({ status, retryAfter: headers["retry-after"] }));
      },
    );
    sent.on("error", reject).end(text);
  });
}

/** @param counts numbers of answers by status */
export function describeCounts(counts, seconds) {
  const each = Object.entries(counts).map(([status, count]) => `${status}: ${count}`);
  return `${(counts[200] / seconds).toFixed(2)} answers/s (${each.join(", ")})`;
}

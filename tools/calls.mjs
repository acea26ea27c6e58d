// Calls a service.
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Sends a request.
 *
 * @param body a text or bytes; without one, the method is GET
 * @returns status, headers and text of the answer, or the error's code as status; and the times of sending and of the
 *   end in milliseconds
 */
export function call(port, { target = "/v1/systemone", body, agent, signal }) {
  return new Promise((resolve) => {
    const sentAt = performance.now();
    const end = (answer) => resolve({ text: "", ...answer, sentAt, endedAt: performance.now() });
    const fail = ({ code }) => end({ status: code });
    const headers = body && { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const method = body ? "POST" : "GET";
    const outgoing = request(
      { host: "127.0.0.1", port, method, path: target, agent, signal, headers },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk) => {
          text += chunk;
        });
        response.on("end", () => end({ status: response.statusCode, headers: response.headers, text }));
        response.on("error", fail);
      },
    );
    outgoing.on("error", fail).end(body);
  });
}

/** Callers that each send one request after another until it is over. Resolves when all have their answers. */
export async function runCallers(count, isOver, send) {
  const caller = async () => {
    while (!isOver()) await send();
  };
  await Promise.all(Array.from({ length: count }, caller));
}

/** Waits for a condition. @throws Error if it is not true within a minute */
export async function until(isSo, what) {
  const end = performance.now() + 60_000;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`not within a minute: ${what}`);
    await sleep(5);
  }
}

const WORDS =
  "the parcel printer customer refund late today paper order charged twice broken never again please".split(
    " ",
  );

export const textOf = (random, words) => Array.from({ length: words }, () => random.pick(WORDS)).join(" ");

/** Questions of the type score. @param criteria the words in each criterion, and how many there are */
export function scoreQuestions(random, { questions, words, criteria }) {
  const question = () => ({
    type: "score",
    instructions: textOf(random, 8),
    criteria: Array.from({ length: criteria }, (_, at) => `${at} ${textOf(random, words)}`),
  });
  return Object.fromEntries(Array.from({ length: questions }, (_, at) => [`q${at}`, question()]));
}

export function addTo(counts, name) {
  counts[name] = (counts[name] ?? 0) + 1;
}

export const describe = (counts) =>
  Object.entries(counts)
    .map(([name, count]) => `${count} x ${name}`)
    .join(", ") || "none";

// Calls a service.
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** Sends a request. @returns status, body as text and send time; the error's code if there was no answer */
export function call(port, { method = "GET", target, body, agent, signal }) {
  return new Promise((resolve) => {
    const sentAt = performance.now();
    const headers =
      body === undefined
        ? {}
        : { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const outgoing = request({ host: "127.0.0.1", port, method, path: target, agent, headers, signal });
    outgoing.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode, text, sentAt }));
      response.on("error", (error) => resolve({ status: error.code, text, sentAt }));
    });
    outgoing.on("error", (error) => resolve({ status: error.code, text: "", sentAt }));
    outgoing.end(body);
  });
}

/** Waits for a condition. @throws Error if it is not true within a minute */
export async function until(isSo, what) {
  const end = performance.now() + 60_000;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`not within a minute: ${what}`);
    await sleep(5);
  }
}

/** Callers that send requests until they are stopped. */
export class Callers {
  answers = [];
  #isOver = false;
  #callers;

  /** @param bodies each with its expected answer, if known */
  constructor(port, count, random, bodies) {
    this.#callers = Array.from({ length: count }, () => this.#call(port, random, bodies));
  }

  /** Resolves when the last caller has its answer. */
  async stop() {
    this.#isOver = true;
    await Promise.all(this.#callers);
  }

  async #call(port, random, bodies) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!this.#isOver) {
      const { body, wanted } = random.pick(bodies);
      const answer = await call(port, { method: "POST", target: "/v1/systemone", body, agent });
      const isRight = answer.status !== 200 || wanted === undefined || answersIn(answer.text) === wanted;
      this.answers.push({ ...answer, text: "", isRight, endedAt: performance.now() });
      if (typeof answer.status !== "number") await sleep(20); // no connection
    }
    agent.destroy();
  }
}

export const answersIn = (text) => JSON.stringify(JSON.parse(text).answers);

const WORDS = "the parcel printer customer refund late today paper order charged twice broken".split(" ");

/** Mostly short requests, some longer ones. */
export function makeBodies(random, count) {
  const text = (words) => Array.from({ length: words }, () => random.pick(WORDS)).join(" ");
  return Array.from({ length: count }, (_, at) =>
    JSON.stringify({
      state: `${at} ${text(at % 8 === 0 ? 300 : 20)}`,
      questions: {
        q: { type: "score", instructions: text(8), criteria: ["a", "b", "c"].map((c) => `${c} ${text(4)}`) },
      },
    }),
  );
}

/** The number of answers with each status. */
export function count(answers) {
  const counts = new Map();
  for (const { status } of answers) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, times]) => `${times} x ${status}`).join(", ");
}

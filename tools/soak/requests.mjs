import { Random } from "../../dist/bench/random.js";
import { REQUEST_LIMITS } from "../../dist/src/decisions/request.js";

const WORDS =
  "the parcel printer customer refund late today paper order charged twice broken never again please".split(
    " ",
  );

/** Requests of random shapes. The same seed gives the same requests. */
export class RandomRequests {
  #random;

  constructor(seed) {
    this.#random = new Random(seed, "soak");
  }

  /**
   * Mostly small requests; some at the limits, some refused, some aborted by the caller. A third of the states recur.
   */
  next() {
    const kind = this.#random.next();
    const leaves = this.#random.next() < 0.05;
    if (kind < 0.02) {
      const body = `{"state":[${'{"a":1},'.repeat(this.#below(200_000))}1]}`;
      return { path: "/v1/systemone", body, wanted: 422, leaves };
    }
    if (kind < 0.04) {
      const body = JSON.stringify({ state: this.#text(3000 + this.#below(9000)), candidates: ["a", "b"] });
      return { path: "/v1/rank", body, wanted: 422, leaves };
    }
    const state =
      this.#random.next() < 0.33
        ? `state ${this.#below(20)} ${"of the parcel ".repeat(1 + this.#below(3) * 200)}`
        : this.#text(this.#size(1200));
    if (kind < 0.3) {
      const { minCandidates, maxCandidates } = REQUEST_LIMITS;
      const candidates = Array.from(
        { length: minCandidates + this.#size(maxCandidates - minCandidates) },
        (_, at) => `${at} ${this.#text(this.#size(60))}`,
      );
      const body = JSON.stringify({ state, question: this.#text(this.#size(80)), candidates });
      return { path: "/v1/rank", body, wanted: 200, leaves };
    }
    const questions = Object.fromEntries(
      Array.from({ length: 1 + this.#size(7) }, (_, at) => [`q${at}`, this.#question()]),
    );
    return { path: "/v1/systemone", body: JSON.stringify({ state, questions }), wanted: 200, leaves };
  }

  /** Milliseconds after which a caller disconnects. */
  leaveMs() {
    return this.#below(200);
  }

  #question() {
    const instructions = this.#text(this.#size(60));
    if (this.#random.next() < 0.4) return { type: "noul", instructions };
    return {
      type: "score",
      instructions,
      criteria: Array.from({ length: 2 + this.#size(20) }, (_, at) => `${at} ${this.#text(this.#size(30))}`),
    };
  }

  /** A number from 0 to `most`; small ones are far more likely. */
  #size(most) {
    return Math.floor((most + 1) * this.#random.next() ** 4);
  }

  #text(words) {
    return Array.from({ length: words + 1 }, () => WORDS[this.#below(WORDS.length)]).join(" ");
  }

  #below(count) {
    return this.#random.between(0, count - 1);
  }
}

/** A fixed list of requests, after which the caches have the same content, so that memory can be compared. */
export function fixedRequests() {
  return Array.from({ length: 6 }, (_, at) => ({
    path: "/v1/rank",
    body: JSON.stringify({
      state: `fixed ${at} ${wordsOf(1000)}`,
      question: "which",
      candidates: ["a", "b"],
    }),
    wanted: 200,
  }));
}

/** A request with the most questions and pairs, a long state and the largest body allowed. */
export function largestRequest() {
  const { maxQuestions, maxPairs, maxBodyBytes } = REQUEST_LIMITS;
  const criteria = Array.from({ length: maxPairs / maxQuestions }, (_, at) => `${at} ${wordsOf(8)}`);
  const questions = Object.fromEntries(
    Array.from({ length: maxQuestions }, (_, at) => [
      `q${at}`,
      { type: "score", instructions: wordsOf(20), criteria },
    ]),
  );
  const body = JSON.stringify({ state: wordsOf(1500), questions });
  return { path: "/v1/systemone", body: body.padEnd(maxBodyBytes, " "), wanted: 200 };
}

const wordsOf = (count) => Array.from({ length: count }, (_, at) => WORDS[at % WORDS.length]).join(" ");

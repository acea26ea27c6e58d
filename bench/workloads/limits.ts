import { REQUEST_LIMITS } from "../../src/decisions/request.ts";
import { Random } from "../random.ts";
import { rankRequest } from "./bodies.ts";
import { sized } from "./fixed-sizes.ts";
import { distinctTexts, textOf } from "./texts.ts";
import type { Workload } from "./workload.ts";

/** Requests at the contract's limits. */
const { maxBodyBytes: MAX_BODY_BYTES, maxPairs, maxQuestions } = REQUEST_LIMITS;
const MAX_STATE_QUESTION_TOKENS = 2_048;
const MAX_CANDIDATE_TOKENS = 768;

/** @param limits limits from /health; missing ones default to this service's */
export function takesFewerTokens(limits: unknown): boolean {
  const { max_state_question_tokens: stateQuestion, max_candidate_tokens: candidate } =
    typeof limits === "object" && limits !== null ? (limits as Record<string, unknown>) : {};
  return Number(stateQuestion) < MAX_STATE_QUESTION_TOKENS || Number(candidate) < MAX_CANDIDATE_TOKENS;
}

/** The same requests for a server with smaller token limits. */
export function forFewerTokens(workload: Workload): Workload {
  return {
    ...workload,
    request: (seed, index) => ({ ...workload.request(seed, index), mayBeTooLong: true }),
  };
}

/** Candidates of each of the most questions. */
const EACH = maxPairs / maxQuestions;

export const MOST_PAIRS: Workload = {
  name: "limit-pairs",
  title: `${maxPairs} pairs: ${maxQuestions} questions x ${EACH} candidates of 10 tokens, 200-token state`,
  isWarm: false,
  request(seed, index) {
    const random = new Random(seed, "limit-pairs", index);
    return sized(random, {
      state: 200,
      question: 10,
      candidate: 10,
      questions: maxQuestions,
      candidates: EACH,
    });
  },
};

export const MOST_TOKENS: Workload = {
  name: "limit-tokens",
  title: "2,048 tokens of state and question, 4 candidates",
  isWarm: false,
  request(seed, index) {
    const random = new Random(seed, "limit-tokens", index);
    const question = 16;
    const state = MAX_STATE_QUESTION_TOKENS - question;
    return sized(random, { state, question, candidate: 12, questions: 1, candidates: 4 });
  },
};

/** Few tokens in many bytes: words separated by long white space. */
export const MOST_BYTES: Workload = {
  name: "limit-bytes",
  title: "body of 2 MiB, answered: 400 words separated by long white space, 2 candidates",
  isWarm: false,
  request(seed, index) {
    const random = new Random(seed, "limit-bytes", index);
    const question = textOf(random, 8);
    const candidates = distinctTexts(random, 2, 10);
    const words = textOf(random, 400).split(" ");
    const bytesWith = (blank: number) =>
      Buffer.byteLength(rankRequest(words.join(" ".repeat(blank)), question, candidates).body);
    const blank = 1 + Math.floor((MAX_BODY_BYTES - bytesWith(1)) / (words.length - 1));
    return rankRequest(words.join(" ".repeat(blank)), question, candidates);
  },
};

/** The cost of a refusal: a state of 2 MiB of words has too many tokens. */
export const TOO_MANY_TOKENS: Workload = {
  name: "limit-refused",
  title: "body of 2 MiB, refused (422): state of about 300,000 tokens",
  isWarm: false,
  request(seed, index) {
    const random = new Random(seed, "limit-refused", index);
    const candidates = distinctTexts(random, 2, 10);
    const part = textOf(random, 1000);
    const room = MAX_BODY_BYTES - Buffer.byteLength(rankRequest("", "", candidates).body);
    const state = part
      .concat(" ")
      .repeat(Math.ceil(room / part.length))
      .slice(0, room);
    return { ...rankRequest(state, "", candidates), expectedStatus: 422 };
  },
};

// Requests of every size, as bytes to send.
import { Random } from "../../dist/bench/random.js";
import { REQUEST_LIMITS } from "../../dist/src/decisions/request.js";

const WORDS =
  "the parcel printer customer refund late today paper order charged twice broken never again please".split(
    " ",
  );
const QUESTIONS = {
  intent: {
    type: "choice",
    instructions: "What does the customer want?",
    criteria: {
      refund: "Wants money back",
      delivery: "Asks where a parcel is",
      other: "Wants something else",
    },
  },
};
/** Parts of a mix: share, words of the state, and size in bytes to which white space extends the body. */
const MIXES = {
  short: [{ share: 1, words: [10, 40], bytes: [0, 0] }],
  every: [
    { share: 0.7, words: [10, 40], bytes: [0, 0] },
    { share: 0.2, words: [100, 800], bytes: [0, 0] },
    { share: 0.07, words: [10, 40], bytes: [8_192, 65_536] },
    { share: 0.02, words: [10, 40], bytes: [65_537, REQUEST_LIMITS.maxBodyBytes] },
    { share: 0.01, words: [10, 40], bytes: [0, 0], isBroken: true },
  ],
};
const BLANKS = Buffer.alloc(REQUEST_LIMITS.maxBodyBytes, " ");

/** Names of the mixes. */
export const mixes = Object.keys(MIXES);

/**
 * An endless series of requests with different states.
 *
 * @returns function of whether to keep the connection alive; gives `{ parts, isBroken }`
 */
export function requestSeries(mix, seed) {
  const random = new Random(seed, "overload", mix);
  let count = 0;
  return (isKept) => {
    count += 1;
    const { words, bytes, isBroken = false } = pick(MIXES[mix], random.next());
    const length = between(random, words);
    const state = Array.from({ length }, () => WORDS[random.between(0, WORDS.length - 1)]);
    const text = JSON.stringify({ state: `${seed} ${count} ${state.join(" ")}`, questions: QUESTIONS });
    const start = Buffer.from(isBroken ? text.slice(0, -2) : text.slice(0, -1));
    const fill = BLANKS.subarray(0, Math.max(0, between(random, bytes) - start.length - 1));
    const end = isBroken ? "" : "}";
    return { isBroken, parts: [head(start.length + fill.length + end.length, isKept), start, fill, end] };
  };
}

function head(bytes, isKept) {
  return [
    "POST /v1/systemone HTTP/1.1",
    "host: localhost",
    "content-type: application/json",
    `content-length: ${bytes}`,
    `connection: ${isKept ? "keep-alive" : "close"}`,
    "",
    "",
  ].join("\r\n");
}

function pick(kinds, at) {
  let below = 0;
  for (const kind of kinds) {
    below += kind.share;
    if (at < below) return kind;
  }
  return kinds[0];
}

/** A log-uniform size: 8 to 16 KiB is as likely as 32 to 64. */
function between(random, [least, most]) {
  return most === 0 ? 0 : Math.round(least * (most / least) ** random.next());
}

import { excerpt, type Reply } from "../../client/exchange.ts";
import { at, isMap, show } from "../../client/json.ts";
import { type Check, checksOf, type Draft } from "../../trial/check.ts";
import { CONTRACT_LIMITS, type Limits } from "../../trial/limits.ts";
import { RANK, SYSTEMONE } from "../../trial/operations.ts";
import { nonce } from "../../trial/salts.ts";
import type { Trial } from "../../trial/trial.ts";
import { counted, countIn } from "../answers/usage.ts";
import { asked, issuesIn, requestOf, toRank } from "../cases.ts";
import { choiceOf, scoreOf } from "../scored.ts";

/** A place for a text whose tokens are limited. */
interface Place {
  readonly what: string;
  readonly limit: "maxStateQuestionTokens" | "maxCandidateTokens";
  /** `word` is the word that the text repeats; `salt` is a text that keeps its pairs out of a cache, often empty. */
  readonly body: (text: string, salt: string, word: string, limits: Limits) => unknown;
  /** Words beside the text that count towards the same limit. */
  readonly beside?: (limits: Limits) => number;
  /** Number of pairs that contain the text. */
  readonly pairs: number;
  /** The `loc` of the 422. */
  readonly loc: readonly (string | number)[];
}

const long = ({ maxStateQuestionTokens }: Limits) => Math.min(1000, maxStateQuestionTokens >> 1);
const STATE: Place = {
  what: "state",
  limit: "maxStateQuestionTokens",
  body: (state, salt) => toRank({ state, candidates: [`a${salt}`, `b${salt}`] }),
  pairs: 2,
  loc: ["body"],
};
const QUESTION: Place = {
  ...STATE,
  what: "question",
  body: (question, salt) => toRank({ state: "", question, candidates: [`a${salt}`, `b${salt}`] }),
};
const INSTRUCTIONS: Place = {
  ...STATE,
  what: "instructions beside a long state",
  body: (instructions, salt, word, limits) =>
    asked(scoreOf([`a${salt}`, `b${salt}`], instructions), `${word} `.repeat(long(limits)).trim()),
  beside: long,
  loc: ["body", "questions", "q"],
};
const CANDIDATE: Place = {
  what: "candidate",
  limit: "maxCandidateTokens",
  body: (text, salt) => toRank({ state: `s${salt}`, candidates: ["a", text] }),
  pairs: 1,
  loc: ["body", "candidates", 1],
};
const LEVEL: Place = {
  ...CANDIDATE,
  what: "level",
  body: (text, salt) => asked(scoreOf(["a", text], ""), `s${salt}`),
  loc: ["body", "questions", "q", "criteria", 1],
};
const DESCRIPTION: Place = {
  ...CANDIDATE,
  what: "description",
  body: (text, salt) => asked(choiceOf({ a: null, x: text }, ""), `s${salt}`),
  loc: ["body", "questions", "q", "criteria", "x"],
};
const PLACES = [STATE, QUESTION, INSTRUCTIONS, CANDIDATE, LEVEL, DESCRIPTION];

/** Checks of token limits. The tokenizer is unknown, so token counts are measured through `usage`. */
export const TOKEN_CHECKS: readonly Check[] = [
  ...checksOf(
    "interface: ServiceLimits",
    Object.fromEntries(PLACES.map((place) => [`limits.tokens.${place.what.split(" ")[0]}`, limitOf(place)])),
  ),
  ...checksOf("contract: ValidationIssue, Errors", {
    "limits.tokens.exact": {
      clause:
        "A 422 for tokens names the limit and the count. As many tokens as the limit are accepted, one more is refused.",
      expected: "`too_many_tokens` with the place in `loc`, and the limit and the limit plus one in `msg`",
      isGentle: false,
      turn: "alone",
      run: async (trial: Trial) => {
        for (const place of PLACES.filter((one) => one !== QUESTION)) {
          const refusal = await findBound(trial, place);
          const limit = trial.facts.limits[place.limit];
          const issue = at(refusal.json, "detail", 0);
          const numbers = String(at(issue, "msg"))
            .replaceAll(/(\d),(?=\d{3})/g, "$1")
            .split(/\D+/);
          const isNamed = [limit, limit + 1].every((one) => numbers.includes(String(one)));
          trial.expect(
            at(issue, "type") === "too_many_tokens" && isNamed,
            `${place.what}: ${excerpt(refusal)} for the shortest refused text`,
            refusal,
          );
          const isThere = place.loc.every((step, index) => at(issue, "loc", index) === step);
          trial.expect(isThere, `${place.what}: loc is ${show(at(issue, "loc"))}`, refusal);
        }
      },
    },
  }),
  ...checksOf("interface: Errors", {
    "limits.tokens.never-cut": {
      clause: "Text is never truncated silently.",
      expected: "422 for texts far over the limits; in accepted texts, each word counts",
      run: async (trial: Trial) => {
        for (const { place, body } of uncutBodies(nonce())) {
          const limit = trial.facts.limits[place.limit];
          await trial.refused(RANK, body(limit * 3));
          const step = Math.min(100, limit >> 2);
          const [few, more, most] = [
            await counted(trial, RANK, body(step)),
            await counted(trial, RANK, body(2 * step)),
            await counted(trial, RANK, body(3 * step)),
          ];
          if (more.cached > 0) trial.skip("pairs came from a cache");
          trial.expect(
            more.count > few.count && most.count - more.count === more.count - few.count,
            `${few.count}, ${more.count} and ${most.count} tokens for ${place.what}s of 1, 2 and 3 times ${step} words`,
            most.inferred,
          );
        }
      },
    },
  }),
  ...checksOf("contract: ValidationIssue", {
    "limits.tokens.each-question": {
      clause:
        "The limit applies to each question of a request, and a 422 names the question that is too long.",
      expected: "422 with one issue, at any position of the long question",
      run: async (trial: Trial) => {
        const short = { type: "noul", instructions: "Is it late?" };
        const instructions = "go ".repeat(trial.facts.limits.maxStateQuestionTokens);
        const long = { ...short, criteria: { true: "x", false: "y" }, instructions };
        for (const questions of [{ long }, { short, long }, { long, short }]) {
          const reply = await trial.refused(SYSTEMONE, { state: "s", questions });
          const issues = issuesIn(trial, reply);
          const isNamed = issues.length === 1 && at(issues, 0, "loc", 2) === "long";
          trial.expect(isNamed, excerpt(reply), reply);
        }
      },
    },
  }),
];

function limitOf(place: Place): Draft {
  const most = CONTRACT_LIMITS[place.limit].toLocaleString("en-US");
  const what = place.limit === "maxCandidateTokens" ? "A candidate has" : "Rendered state and question have";
  return {
    clause: `${what} at most ${most} tokens, special tokens included (${place.what}).`,
    expected: "200 up to the limit and 422 above it, with a margin for the special tokens of a pair",
    isGentle: false,
    turn: "alone", // several of these large requests at once could exceed the timeout
    run: (trial) => findBound(trial, place),
  };
}

/**
 * Rankings with one salt, since another might have another number of tokens. Every pair contains the text, so none is
 * cached.
 */
function uncutBodies(salt: string) {
  const text = (words: number) => wordsOf("go", words);
  return [
    { place: STATE, body: (words: number) => ({ state: `${salt} ${text(words)}`, candidates: ["a", "b"] }) },
    {
      place: CANDIDATE,
      body: (words: number) => ({ state: salt, candidates: [text(words), `${text(words)} end`] }),
    },
  ];
}

function wordsOf(word: string, count: number): string {
  return `${word} `.repeat(count).trim();
}

/**
 * Finds the shortest refused text and compares its length with the limit. Two checks need it, and it is expensive.
 *
 * A text of w words adds w tokens to a constant number: special tokens and the texts beside it. That number is at most
 * the tokens of a pair with the shortest text, so the bound lies at most that far below the limit.
 * @returns the answer to the shortest refused text
 * @throws CannotTell if none of the words tried is one token to the server
 */
function findBound(trial: Trial, place: Place): Promise<Reply> {
  return trial.shared(`tokens of ${place.what}`, () => searchBound(trial, place));
}

async function searchBound(trial: Trial, place: Place): Promise<Reply> {
  const { limits } = trial.facts;
  const limit = limits[place.limit] - (place.beside?.(limits) ?? 0);
  const { word, others, salt } = await measure(trial, place);
  const send = (count: number) =>
    trial.post(...requestOf(place.body(wordsOf(word, count), salt, word, limits)));
  const told = (reply: Reply, count: number) =>
    `${excerpt(reply)} for a ${place.what} of ${count} words, where ${limit} tokens are allowed`;
  let taken = limit - others;
  let refused = limit;
  if (taken > 0) {
    const lowest = await send(taken);
    trial.expect(lowest.status === 200, told(lowest, taken), lowest);
  }
  let refusal = await send(refused);
  while (refused - taken > 1) {
    const middle = Math.floor((taken + refused) / 2);
    const reply = await send(middle);
    if (reply.status === 200) taken = middle;
    else [refused, refusal] = [middle, reply];
  }
  trial.expect(refusal.status === 422, told(refusal, refused), refusal);
  return refusal;
}

/** Letters in a new order, separated by spaces, so that most tokenizers make one token of each. */
function letters(): string {
  return ` ${[...nonce()].join(" ")}`;
}

interface Measure {
  readonly word: string;
  /** Tokens of a pair other than the text and the words that count towards the same limit. */
  readonly others: number;
  readonly salt: string;
}

/** Finds a word of one token, and the number of other tokens of a pair. */
async function measure(trial: Trial, place: Place): Promise<Measure> {
  const { limits } = trial.facts;
  const beside = place.beside?.(limits) ?? 0;
  const room = limits[place.limit] - beside;
  const [fewer, longer] = [Math.min(50, room >> 2), Math.min(90, room >> 1)];
  for (const isSalted of [false, true]) {
    for (const word of ["go", "a", "the", "1", "is", "and", "x"]) {
      const salt = isSalted ? letters() : "";
      const count = async (words: number) => {
        // a new salt each time, with as many tokens, so that the other candidate is not cached either
        const body = place.body(wordsOf(word, words), isSalted ? letters() : "", word, limits);
        const reply = await trial.post(...requestOf(body));
        if (reply.status === 422) return undefined;
        if (reply.status !== 200 || !isMap(reply.json))
          trial.fail(`${excerpt(reply)}, for a request that is valid`, reply);
        return countIn(trial, { reply, json: reply.json });
      };
      // a word of several tokens may exceed the limit: then it cannot be used
      const [few, more] = [await count(fewer), await count(longer)];
      if (few === undefined || more === undefined) continue;
      if (few.cached > 0 || more.cached > 0) break; // they came from a score cache: again with salt
      if (more.count - few.count !== (longer - fewer) * place.pairs) continue;
      // if only one of two pairs contains the text, the tokens of the other pair are included too
      const others = Math.ceil(few.count / place.pairs) - fewer - beside;
      return { word, others, salt };
    }
  }
  return trial.skip(
    "none of a few short words is a single token to this server, so the limit cannot be measured",
  );
}

import { excerpt, type Reply } from "../../client/exchange.ts";
import { at, isList, isMap, show } from "../../client/json.ts";
import { type Check, defineCheck } from "../../trial/check.ts";
import { CONTRACT_LIMITS } from "../../trial/limits.ts";
import { RANK, SYSTEMONE } from "../../trial/operations.ts";
import { nonce } from "../../trial/salts.ts";
import type { Trial } from "../../trial/trial.ts";
import { counted, countIn } from "../answers/usage.ts";
import { asked, issuesIn } from "../cases.ts";
import { choiceOf, scoreOf } from "../scored.ts";

/** A place for a text whose tokens are limited. */
interface Place {
  readonly what: string;
  readonly path: string;
  readonly limit: (trial: Trial) => number;
  /** `word` is the word that the text repeats; `salt` is a text that keeps its pairs out of a cache, often empty. */
  readonly body: (text: string, word: string, salt: string) => unknown;
  /** Words beside the text that count towards the same limit. */
  readonly beside?: number;
  /** Number of pairs that contain the text. */
  readonly pairs: number;
  /** The `loc` of the 422. */
  readonly loc: readonly (string | number)[];
}

const stateQuestion = (trial: Trial) => trial.facts.limits.maxStateQuestionTokens;
const candidate = (trial: Trial) => trial.facts.limits.maxCandidateTokens;

const STATE: Place = {
  what: "state",
  path: RANK,
  limit: stateQuestion,
  body: (state, _word, salt) => ({ state, candidates: [`a${salt}`, `b${salt}`] }),
  pairs: 2,
  loc: ["body"],
};
const QUESTION: Place = {
  what: "question",
  path: RANK,
  limit: stateQuestion,
  body: (question, _word, salt) => ({ state: "", question, candidates: [`a${salt}`, `b${salt}`] }),
  pairs: 2,
  loc: ["body"],
};
const INSTRUCTIONS: Place = {
  what: "instructions beside a long state",
  path: SYSTEMONE,
  limit: stateQuestion,
  body: (instructions, word, salt) => ({
    state: `${word} `.repeat(1000).trim(),
    questions: { q: scoreOf([`a${salt}`, `b${salt}`], instructions) },
  }),
  beside: 1000,
  pairs: 2,
  loc: ["body", "questions", "q"],
};
const CANDIDATE: Place = {
  what: "candidate",
  path: RANK,
  limit: candidate,
  body: (text, _word, salt) => ({ state: `s${salt}`, candidates: ["a", text] }),
  pairs: 1,
  loc: ["body", "candidates", 1],
};
const LEVEL: Place = {
  what: "level",
  path: SYSTEMONE,
  limit: candidate,
  body: (text, _word, salt) => asked(scoreOf(["a", text], ""), `s${salt}`),
  pairs: 1,
  loc: ["body", "questions", "q", "criteria", 1],
};
const DESCRIPTION: Place = {
  what: "description",
  path: SYSTEMONE,
  limit: candidate,
  body: (text, _word, salt) => asked(choiceOf({ a: null, x: text }, ""), `s${salt}`),
  pairs: 1,
  loc: ["body", "questions", "q", "criteria", "x"],
};

/** Checks of token limits. The tokenizer is unknown, so token counts are measured through `usage`. */
export const TOKEN_CHECKS: readonly Check[] = [
  ...[STATE, QUESTION, INSTRUCTIONS].map((place) =>
    limitCheck(
      `limits.tokens.${place.what.split(" ")[0]}`,
      place,
      `Rendered state and question have at most ${CONTRACT_LIMITS.maxStateQuestionTokens.toLocaleString("en-US")} tokens`,
    ),
  ),
  ...[CANDIDATE, LEVEL, DESCRIPTION].map((place) =>
    limitCheck(
      `limits.tokens.${place.what}`,
      place,
      `A candidate has at most ${CONTRACT_LIMITS.maxCandidateTokens} tokens`,
    ),
  ),
  defineCheck({
    id: "limits.tokens.exact",
    clause:
      "A 422 for tokens names the limit and the count. As many tokens as the limit are accepted, one more is refused.",
    source: "contract: ValidationIssue, Errors",
    expected: "`too_many_tokens` with the place in `loc`, and the limit and the limit plus one in `msg`",
    isGentle: false,
    turn: "alone",
    run: async (trial: Trial) => {
      for (const place of [STATE, INSTRUCTIONS, CANDIDATE, LEVEL, DESCRIPTION]) {
        const { refusal } = await findBound(trial, place);
        const limit = place.limit(trial);
        const issues = at(refusal.json, "detail");
        const [issue] = isList(issues) ? issues : [];
        const told = String(at(issue, "msg"))
          .replaceAll(/(\d),(?=\d{3})/g, "$1")
          .split(/\D+/);
        trial.expect(
          at(issue, "type") === "too_many_tokens" &&
            told.includes(String(limit)) &&
            told.includes(String(limit + 1)),
          `${place.what}: ${excerpt(refusal)} for the shortest refused text`,
          refusal,
        );
        const loc = at(issue, "loc");
        const steps = isList(loc) ? loc : [];
        trial.expect(
          place.loc.every((step, index) => steps[index] === step),
          `${place.what}: loc is ${show(loc)}`,
          refusal,
        );
      }
    },
  }),
  defineCheck({
    id: "limits.tokens.never-cut",
    clause: "Text is never truncated silently.",
    source: "interface: Errors",
    expected: "422 for texts far over the limits; in accepted texts, each word counts",
    run: async (trial: Trial) => {
      for (const { place, body } of uncutBodies(nonce())) {
        await trial.refused(RANK, body(place.limit(trial) * 3));
        const few = await counted(trial, RANK, body(100));
        const more = await counted(trial, RANK, body(200));
        const most = await counted(trial, RANK, body(300));
        if (more.cached > 0) trial.skip("pairs came from a cache");
        trial.expect(
          more.count > few.count && most.count - more.count === more.count - few.count,
          `${few.count}, ${more.count} and ${most.count} tokens for ${place.what}s of 100, 200 and 300 words`,
          most.inferred,
        );
      }
    },
  }),
  defineCheck({
    id: "limits.tokens.each-question",
    clause: "The limit applies to each question of a request, and a 422 names the question that is too long.",
    source: "contract: ValidationIssue",
    expected: "422 with one issue, at any position of the long question",
    run: async (trial: Trial) => {
      const short = { type: "noul", instructions: "Is it late?" };
      const long = {
        ...short,
        criteria: { true: "x", false: "y" },
        instructions: "go ".repeat(stateQuestion(trial)),
      };
      for (const questions of [{ long }, { short, long }, { long, short }]) {
        const reply = await trial.refused(SYSTEMONE, { state: "s", questions });
        const issues = issuesIn(trial, reply);
        const name = at(issues, 0, "loc", 2);
        trial.expect(issues.length === 1 && name === "long", excerpt(reply), reply);
      }
    },
  }),
];

function limitCheck(id: string, place: Place, rule: string): Check {
  return defineCheck({
    id,
    clause: `${rule}, special tokens included (${place.what}).`,
    source: "interface: ServiceLimits",
    expected: "200 up to the limit and 422 above it, with a margin for the special tokens of a pair",
    isGentle: false,
    turn: "alone", // several of these large requests at once could exceed the timeout
    run: async (trial: Trial) => {
      await findBound(trial, place);
    },
  });
}

/**
 * Rankings with one salt, since another might have another number of tokens. Every pair contains the text, so none is
 * cached.
 */
function uncutBodies(salt: string) {
  const text = (words: number) => "go ".repeat(words).trim();
  return [
    { place: STATE, body: (words: number) => ({ state: `${salt} ${text(words)}`, candidates: ["a", "b"] }) },
    {
      place: CANDIDATE,
      body: (words: number) => ({ state: salt, candidates: [text(words), `${text(words)} end`] }),
    },
  ];
}

interface Bound {
  /** The answer to the shortest refused text. */
  readonly refusal: Reply;
}

/**
 * Finds the shortest refused text and compares its length with the limit.
 *
 * A text of w words adds w tokens to a constant number: special tokens and the texts beside it. That number is at most
 * the tokens of a pair with the shortest text, so the bound lies at most that far below the limit.
 * @throws CannotTell if none of the words tried is one token to the server
 */
function findBound(trial: Trial, place: Place): Promise<Bound> {
  // two checks need the same bound, and finding it is expensive
  const known = found.get(trial.facts) ?? new Map<Place, Promise<Bound>>();
  found.set(trial.facts, known);
  const bound = known.get(place) ?? searchBound(trial, place);
  known.set(place, bound);
  return bound;
}

/** Bounds that were found, keyed by the run's facts. */
const found = new WeakMap<object, Map<Place, Promise<Bound>>>();

async function searchBound(trial: Trial, place: Place): Promise<Bound> {
  const limit = place.limit(trial) - (place.beside ?? 0);
  const { word, others, salt } = await measure(trial, place);
  const text = (count: number) => Array.from({ length: count }, () => word).join(" ");
  const send = (count: number) => trial.post(place.path, place.body(text(count), word, salt));
  let taken = limit - others;
  let refused = limit;
  const lowest = taken <= 0 ? undefined : await send(taken);
  if (lowest !== undefined && lowest.status !== 200)
    trial.fail(
      `${excerpt(lowest)} for a ${place.what} of ${taken} words, where ${limit} tokens are allowed`,
      lowest,
    );
  let refusal = await send(refused);
  while (refused - taken > 1) {
    const middle = Math.floor((taken + refused) / 2);
    const reply = await send(middle);
    if (reply.status === 200) taken = middle;
    else {
      refused = middle;
      refusal = reply;
    }
  }
  trial.expect(
    refusal.status === 422,
    `${excerpt(refusal)} for a ${place.what} of ${refused} words, where ${limit} tokens are allowed`,
    refusal,
  );
  return { refusal };
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
  for (const isSalted of [false, true]) {
    for (const word of ["go", "a", "the", "1", "is", "and", "x"]) {
      const salt = isSalted ? letters() : "";
      const count = async (words: number) => {
        const text = Array.from({ length: words }, () => word).join(" ");
        // a new salt each time, with as many tokens, so that the other candidate is not cached either
        const body = place.body(text, word, isSalted ? letters() : "");
        const reply = await trial.post(place.path, body);
        if (reply.status === 422) return undefined;
        if (reply.status !== 200 || !isMap(reply.json))
          trial.fail(`${excerpt(reply)}, for a request that is valid`, reply);
        return countIn(trial, { reply, json: reply.json });
      };
      // a word of several tokens may exceed the limit: then it cannot be used
      const [few, more] = [await count(50), await count(90)];
      if (few === undefined || more === undefined) continue;
      if (few.cached > 0 || more.cached > 0) break; // they came from a score cache: again with salt
      if (more.count - few.count !== 40 * place.pairs) continue;
      // if only one of two pairs contains the text, the tokens of the other pair are included too
      const others = Math.ceil((few.count - 50 * place.pairs) / place.pairs) - (place.beside ?? 0);
      return { word, others, salt };
    }
  }
  return trial.skip(
    "none of a few short words is a single token to this server, so the limit cannot be measured",
  );
}

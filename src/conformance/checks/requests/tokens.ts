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

/** A text of so many words, put where its tokens count. */
interface Place {
  readonly what: string;
  readonly path: string;
  readonly limit: (trial: Trial) => number;
  /** `word` is what the text is made of, `salt` a text that keeps its pairs out of a cache (mostly empty). */
  readonly body: (text: string, word: string, salt: string) => unknown;
  /** Words beside the text that count with it. */
  readonly beside?: number;
  /** Pairs that the text is part of. */
  readonly pairs: number;
  /** Where the 422 says that it is. */
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

/** Token limits. What a token is, only the server knows: it is measured through `usage`. */
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
      "A 422 for tokens tells the limit and how many came: the limit itself is taken, one more is refused.",
    source: "contract: ValidationIssue, Errors",
    expected: "`too_many_tokens` at the place, with the limit and the limit plus one in `msg`",
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
          `${place.what}: ${excerpt(refusal)} for the first text that is refused`,
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
    clause: "Texts are never truncated.",
    source: "interface: Errors",
    expected: "422 for texts far over the limits; and where a text is taken, each of its words counts",
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
    clause: "The limit holds for each question of a request, and a refusal names the one that is too long.",
    source: "contract: ValidationIssue",
    expected: "422 with one issue, wherever in the request the long question stands",
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
    expected: "200 up to the limit and 422 from there on, give or take the special tokens that a pair has",
    isGentle: false,
    turn: "alone", // each request is as much work as the model ever has: six at a time outlast the timeout on a busy machine
    run: async (trial: Trial) => {
      await findBound(trial, place);
    },
  });
}

/** Rankings under one salt: another might have another number of tokens. Every pair holds the text: none is in a cache. */
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
  /** The answer to the shortest text that is refused. */
  readonly refusal: Reply;
}

/**
 * Finds where refusal begins, and holds it against the limit.
 *
 * A text of w words has w tokens besides those that are always there: the specials, and what stands beside it. These
 * last are at most what a pair with the shortest text has in all, so the bound must lie in that range below the limit.
 * @throws CannotTell where the server's tokenizer does not make one token of each of the words tried
 */
function findBound(trial: Trial, place: Place): Promise<Bound> {
  // two checks look at one bound, and finding it is work for the model
  const known = found.get(trial.facts) ?? new Map<Place, Promise<Bound>>();
  found.set(trial.facts, known);
  const bound = known.get(place) ?? searchBound(trial, place);
  known.set(place, bound);
  return bound;
}

/** Of each run, by its facts. */
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

/** Letters in an order that no request has had: apart by spaces, so that most tokenizers make one token of each. */
function letters(): string {
  return ` ${[...nonce()].join(" ")}`;
}

interface Measure {
  readonly word: string;
  /** Tokens of a pair beside the text, and beside the words that count with it. */
  readonly others: number;
  readonly salt: string;
}

/** Finds a word of one token, and how many tokens of a pair are not its own. */
async function measure(trial: Trial, place: Place): Promise<Measure> {
  for (const isSalted of [false, true]) {
    for (const word of ["go", "a", "the", "1", "is", "and", "x"]) {
      const salt = isSalted ? letters() : "";
      const count = async (words: number) => {
        const text = Array.from({ length: words }, () => word).join(" ");
        // another salt each time, of as many tokens: the other candidate must be in no cache either
        const body = place.body(text, word, isSalted ? letters() : "");
        const reply = await trial.post(place.path, body);
        if (reply.status === 422) return undefined;
        if (reply.status !== 200 || !isMap(reply.json))
          trial.fail(`${excerpt(reply)}, for a request that is valid`, reply);
        return countIn(trial, { reply, json: reply.json });
      };
      // a word of several tokens may be too long already: then it is none to measure with
      const [few, more] = [await count(50), await count(90)];
      if (few === undefined || more === undefined) continue;
      if (few.cached > 0 || more.cached > 0) break; // a score cache knows them: once more with salt
      if (more.count - few.count !== 40 * place.pairs) continue;
      // where the text is in one pair of two, the other's tokens are among the others too
      const others = Math.ceil((few.count - 50 * place.pairs) / place.pairs) - (place.beside ?? 0);
      return { word, others, salt };
    }
  }
  return trial.skip("none of a few short words is one token each to this server: the bound cannot be told");
}

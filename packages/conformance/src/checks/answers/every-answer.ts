import type { Reply } from "../../client/exchange.ts";
import { at, isList, isMap, type Json, type JsonMap, namesOf, readJson, show } from "../../client/json.ts";
import { sentPath } from "../../client/target.ts";
import { ownContract } from "../../documents.ts";
import { type Check, defineCheck } from "../../trial/check.ts";
import { NOUL, RANK, SYSTEMONE } from "../../trial/operations.ts";
import type { Trial } from "../../trial/trial.ts";
import { CHOICE, freshState, SCORE, SOURCE, softmax, sum, TEMPERATURE } from "../scored.ts";

/** Tolerances: of a server that computes in float32, and of one that satisfies the full profile. */
const LOOSE = 1e-5;
const TIGHT = 1e-9;
/** An expected level, a sum over levels, may be off by so many tolerances. Chosen. */
const PER_LEVEL = 64;

/** Checks that apply the rules to every answer of the run. */
export const EVERY_ANSWER_CHECKS: readonly Check[] = [
  lookingBack(
    "systemone.every-answer",
    SYSTEMONE,
    "interface: Decisions",
    "answers to questions",
    misfitOfAnswers,
  ),
  lookingBack("rank.every-answer", RANK, "interface: Ranking", "rankings", misfitOfRanking),
  defineCheck({
    id: "answers.every-schema",
    clause: "Every 200 answer fits the contract's schema.",
    source: "contract: Decisions, Ranking",
    expected: "no answer of the run with an additional, missing or mistyped member",
    turn: "last",
    run: async (trial: Trial) => {
      const contract = await ownContract();
      for (const [path, schema] of [
        [SYSTEMONE, "Decisions"],
        [RANK, "Ranking"],
      ] as const)
        for (const reply of await answersTo(trial, path)) {
          const misfit = reply.json === undefined ? "no JSON" : contract.misfit(schema, reply.json);
          trial.expect(misfit === undefined, misfit ?? "", reply);
        }
    },
  }),
];

type Misfit = (trial: Trial, request: JsonMap, answer: Json) => string | undefined;

function lookingBack(id: string, path: string, source: string, what: string, misfit: Misfit): Check {
  return defineCheck({
    id,
    clause: `The rules for ${what} hold for every one of the run.`,
    source,
    expected: "names, labels, arithmetic, order, usage and constants as in the clauses on them",
    turn: "last",
    run: async (trial: Trial) => {
      for (const reply of await answersTo(trial, path)) {
        const request = requestOf(reply);
        if (request === undefined || reply.json === undefined) continue;
        const found = commonMisfit(trial, reply.json) ?? misfit(trial, request, reply.json);
        trial.expect(found === undefined, found ?? "", reply);
      }
    },
  });
}

/** Sends a valid request. @returns all answers of the run from this path with status 200 */
async function answersTo(trial: Trial, path: string): Promise<readonly Reply[]> {
  if (path === RANK) await trial.infer(RANK, { state: freshState(), candidates: { b: "x", a: "y" } });
  else
    await trial.infer(SYSTEMONE, { state: freshState(), questions: { c: CHOICE, n: { ...NOUL }, s: SCORE } });
  return trial.seen.filter(
    ({ status, request }) => status === 200 && sentPath(trial.target, request.url) === path,
  );
}

/** The request's body as parsed JSON; undefined unless it is an object. */
function requestOf({ request: { body } }: Reply): JsonMap | undefined {
  const text = typeof body === "string" ? body : Buffer.from(body ?? []).toString("utf8");
  const read = readJson(text);
  return isMap(read) ? read : undefined;
}

function commonMisfit({ facts, profile }: Trial, answer: Json): string | undefined {
  if (at(answer, "temperature") !== TEMPERATURE) return `temperature is ${show(at(answer, "temperature"))}`;
  const source = at(answer, "probabilities_source");
  if (source !== SOURCE) return `probabilities_source is ${show(source)}`;
  const model = at(answer, "model");
  if (facts.modelId !== undefined && model !== undefined && model !== facts.modelId)
    return `model is ${show(model)}, elsewhere ${facts.modelId}`;
  const [input, output, total, cached] = [
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "cached_pairs",
  ].map((name) => at(answer, "usage", name));
  const isCount = (value: Json | undefined) => Number.isInteger(value) && Number(value) >= 0;
  if (![input, output, total, cached].every(isCount)) return `usage is ${show(at(answer, "usage"))}`;
  const isSum = Number(total) === Number(input) + Number(output) && (output === 0 || profile === "seed");
  return isSum ? undefined : `usage is ${show(at(answer, "usage"))}`;
}

function misfitOfAnswers(trial: Trial, request: JsonMap, answer: Json): string | undefined {
  const questions = at(request, "questions");
  if (!isMap(questions)) return undefined;
  const answers = at(answer, "answers");
  const [asked, answered] = [namesOf(questions), namesOf(answers)];
  const isSame =
    trial.profile === "full"
      ? asked.join("\n") === answered.join("\n")
      : asked.toSorted().join("\n") === answered.toSorted().join("\n");
  if (!isSame) return `answers named ${show([...answered])} to questions named ${show([...asked])}`;
  for (const name of asked) {
    const found = misfitOfAnswer(trial, at(questions, name), at(answers, name));
    if (found !== undefined) return `${JSON.stringify(name)}: ${found}`;
  }
  return undefined;
}

function misfitOfAnswer(
  trial: Trial,
  question: Json | undefined,
  answer: Json | undefined,
): string | undefined {
  const type = at(question, "type");
  if (at(answer, "type") !== type) return `type ${show(at(answer, "type"))} for a ${show(type)}`;
  const probabilities = at(answer, "probabilities");
  const labels = namesOf(probabilities);
  const wanted = labelsOf(question);
  // the profile `seed` leaves open how outcomes are named and in which order labels come
  const isLabelled =
    trial.profile === "full"
      ? labels.join("\n") === wanted.join("\n")
      : type === "noul" || labels.toSorted().join("\n") === wanted.toSorted().join("\n");
  if (!isLabelled) return `probabilities of ${show([...labels])}, where ${show([...wanted])} were asked for`;
  const shares = isMap(probabilities) ? [...probabilities.values()].map(Number) : [];
  const given = at(answer, "scores");
  const scores = labels.map((label, index) => Number(isList(given) ? given[index] : at(given, label)));
  const tolerance = trial.profile === "full" ? TIGHT : LOOSE;
  const off = farthest(shares, softmax(scores));
  if (!(off <= tolerance))
    return `probabilities are ${off} off the softmax of ${JSON.stringify(scores.slice(0, 6))}`;
  const largest = Math.max(...shares);
  const confidence = Number(at(answer, "confidence"));
  if (!(Math.abs(confidence - largest) <= tolerance))
    return `confidence ${confidence}, the largest ${largest}`;
  if (type === "choice" && scores[labels.indexOf(String(at(answer, "choice")))] !== Math.max(...scores))
    return `choice is ${show(at(answer, "choice"))}`;
  if (type === "noul" && labels.includes("true")) {
    const noul = at(answer, "noul");
    const share = shares[labels.indexOf("true")] ?? Number.NaN;
    if (typeof noul !== "number" || !(Math.abs(noul - share) <= tolerance)) return `noul is ${show(noul)}`;
  }
  if (type === "score") {
    const level = sum(shares.map((share, index) => Number(labels[index]) * share));
    const score = at(answer, "score");
    if (typeof score !== "number" || !(Math.abs(score - level) <= tolerance * PER_LEVEL))
      return `score is ${show(score)}, the sum ${level}`;
  }
  return undefined;
}

function labelsOf(question: Json | undefined): readonly string[] {
  const criteria = at(question, "criteria");
  const type = at(question, "type");
  if (type === "noul") return ["false", "true"];
  return isList(criteria) ? criteria.map((_, index) => String(index)) : namesOf(criteria);
}

function misfitOfRanking(trial: Trial, request: JsonMap, answer: Json): string | undefined {
  const given = at(request, "candidates") ?? at(request, "answers");
  const wanted = isMap(given)
    ? [...given]
    : isList(given)
      ? given.map((text, index): [string, Json] => [String(index), text])
      : undefined;
  const ranked = at(answer, "ranked");
  if (wanted === undefined || !isList(ranked)) return undefined;
  const texts = new Map(ranked.map((row) => [String(at(row, "candidate")), at(row, "text")]));
  if (ranked.length !== wanted.length || texts.size !== wanted.length)
    return `${ranked.length} rows for ${wanted.length} candidates`;
  for (const [label, text] of wanted)
    if (texts.get(label) !== text) return `text ${show(texts.get(label))} under ${JSON.stringify(label)}`;
  const scores = ranked.map((row) => Number(at(row, "score")));
  const places = new Map(wanted.map(([label], index) => [label, index]));
  for (const [index, row] of ranked.entries()) {
    if (at(row, "rank") !== index + 1) return `rank ${show(at(row, "rank"))} at place ${index + 1}`;
    const [before, own] = [scores[index - 1] ?? Number.POSITIVE_INFINITY, scores[index] ?? Number.NaN];
    if (!(before >= own)) return `a score of ${own} below one of ${before}`;
    const [place, former] = [row, ranked[index - 1]].map(
      (one) => places.get(String(at(one, "candidate"))) ?? -1,
    );
    if (before === own && Number(former) > Number(place))
      return "a tie that does not keep the order of the request";
  }
  const shares = ranked.map((row) => Number(at(row, "probability")));
  const off = farthest(shares, softmax(scores));
  return off <= (trial.profile === "full" ? TIGHT : LOOSE)
    ? undefined
    : `probabilities are ${off} off the softmax`;
}

function farthest(one: readonly number[], other: readonly number[]): number {
  return Math.max(...one.map((x, index) => Math.abs(x - (other[index] ?? Number.NaN))));
}

import type { Reply } from "../../client/exchange.ts";
import { at, isList, isMap, type Json, type JsonMap, namesOf, readJson, show } from "../../client/json.ts";
import { ownContract } from "../../documents.ts";
import { type Check, checksOf, type Draft } from "../../trial/check.ts";
import { NOUL, RANK, SYSTEMONE } from "../../trial/operations.ts";
import type { Trial } from "../../trial/trial.ts";
import { CHOICE, freshState, readRows, readScored, SCORE, SOURCE, TEMPERATURE } from "../scored.ts";
import {
  ANSWER_RULES,
  columns,
  labelsMisfit,
  orderMisfit,
  ranksMisfit,
  softmaxMisfit,
  TIGHT,
  tiesMisfit,
} from "./arithmetic.ts";

/** Tolerance of a server that computes in float32. */
const LOOSE = 1e-5;
/** An expected level, a sum over levels, may be off by so many tolerances. Chosen. */
const PER_LEVEL = 64;

/** Checks that apply the rules to every answer of the run. */
export const EVERY_ANSWER_CHECKS: readonly Check[] = [
  ...checksOf("interface: Decisions", {
    "systemone.every-answer": lookingBack(SYSTEMONE, "answers to questions", answersMisfit),
  }),
  ...checksOf("interface: Ranking", {
    "rank.every-answer": lookingBack(RANK, "rankings", rankingMisfit),
  }),
  ...checksOf("contract: Decisions, Ranking", {
    "answers.every-schema": {
      clause: "Every 200 answer fits the contract's schema.",
      expected: "no answer of the run with an additional, missing or mistyped member",
      turn: "last",
      run: async (trial) => {
        const contract = await ownContract();
        for (const [path, schema] of [
          [SYSTEMONE, "Decisions"],
          [RANK, "Ranking"],
        ] as const)
          for (const reply of await answersTo(trial, path))
            trial.fits(reply.json === undefined ? "no JSON" : contract.misfit(schema, reply.json), reply);
      },
    },
  }),
];

type Misfit = (trial: Trial, request: JsonMap, answer: Json) => string | undefined;

function lookingBack(path: string, what: string, misfit: Misfit): Draft {
  return {
    clause: `The rules for ${what} hold for every one of the run.`,
    expected: "names, labels, arithmetic, order, usage and constants as in the clauses on them",
    turn: "last",
    run: async (trial) => {
      for (const reply of await answersTo(trial, path)) {
        const request = readJson(Buffer.from(reply.request.body ?? "").toString("utf8"));
        if (!isMap(request) || reply.json === undefined) continue;
        trial.fits(commonMisfit(trial, reply.json) ?? misfit(trial, request, reply.json), reply);
      }
    },
  };
}

/** Sends a valid request. @returns all answers of the run from this path with status 200 */
async function answersTo(trial: Trial, path: string): Promise<readonly Reply[]> {
  if (path === RANK) await trial.infer(RANK, { state: freshState(), candidates: { b: "x", a: "y" } });
  else await trial.infer(SYSTEMONE, { state: freshState(), questions: { c: CHOICE, n: NOUL, s: SCORE } });
  return trial.seen.filter(({ status, request }) => status === 200 && request.path === path);
}

function commonMisfit({ facts, profile }: Trial, answer: Json): string | undefined {
  const { modelId } = facts;
  for (const [name, wanted] of [
    ["temperature", TEMPERATURE],
    ["probabilities_source", SOURCE],
    ["model", modelId],
  ] as const) {
    const value = at(answer, name);
    // the profile `seed` does not require that a ranking names its model
    const isOpen = name === "model" && (modelId === undefined || value === undefined);
    if (value !== wanted && !isOpen) return `${name} is ${show(value)}, not ${show(wanted)}`;
  }
  const usage = at(answer, "usage");
  const names = ["input_tokens", "output_tokens", "total_tokens", "cached_pairs"];
  const [input, output, total, cached] = names.map((name) => at(usage, name));
  const isCount = (value: Json | undefined) => Number.isInteger(value) && Number(value) >= 0;
  const areCounts = [input, output, total, cached].every(isCount);
  const isSum = Number(total) === Number(input) + Number(output) && (output === 0 || profile === "seed");
  return areCounts && isSum ? undefined : `usage is ${show(usage)}`;
}

/** Whether names are the same; the profile `seed` leaves their order open. */
function areNames({ profile }: Trial, came: readonly string[], wanted: readonly string[]): boolean {
  const [one, other] = profile === "full" ? [came, wanted] : [came.toSorted(), wanted.toSorted()];
  return one.join("\n") === other.join("\n");
}

function answersMisfit(trial: Trial, request: JsonMap, answer: Json): string | undefined {
  const questions = at(request, "questions");
  if (!isMap(questions)) return undefined;
  const answers = at(answer, "answers");
  const [asked, answered] = [namesOf(questions), namesOf(answers)];
  if (!areNames(trial, answered, asked))
    return `answers named ${show([...answered])} to questions named ${show([...asked])}`;
  for (const [name, question] of questions) {
    const found = answerMisfit(trial, question, at(answers, name));
    if (found !== undefined) return `${JSON.stringify(name)}: ${found}`;
  }
  return undefined;
}

function answerMisfit(trial: Trial, question: Json, answer: Json | undefined): string | undefined {
  const isFull = trial.profile === "full";
  const type = at(question, "type");
  if (at(answer, "type") !== type) return `type ${show(at(answer, "type"))} for a ${show(type)}`;
  const scored = readScored(answer);
  if (scored === undefined) return "no scores or no probabilities";
  const { labels } = scored;
  const wanted = labelsOf(question);
  // the profile `seed` leaves open how outcomes are named
  if (!areNames(trial, labels, wanted) && (isFull || type !== "noul"))
    return `probabilities of ${show([...labels])}, where ${show([...wanted])} were asked for`;
  const tolerance = isFull ? TIGHT : LOOSE;
  for (const [name, rule] of Object.entries(ANSWER_RULES)) {
    const found = rule(scored, name === "score" ? tolerance * PER_LEVEL : tolerance, isFull);
    if (found !== undefined) return found;
  }
  return undefined;
}

function labelsOf(question: Json): readonly string[] {
  if (at(question, "type") === "noul") return ["false", "true"];
  const criteria = at(question, "criteria");
  return isList(criteria) ? criteria.map((_, index) => String(index)) : namesOf(criteria);
}

function rankingMisfit({ profile }: Trial, request: JsonMap, answer: Json): string | undefined {
  const given = at(request, "candidates") ?? at(request, "answers");
  const listed = isList(given) ? given.map((text, index): [string, Json] => [String(index), text]) : [];
  const candidates = isMap(given) ? [...given] : listed;
  const texts = candidates.map(([, text]) => text);
  const rows = readRows(at(answer, "ranked"));
  if (rows === undefined) return "no complete ranking";
  return (
    labelsMisfit(rows, candidates) ??
    orderMisfit(rows) ??
    ranksMisfit(rows) ??
    tiesMisfit(rows, texts) ??
    softmaxMisfit(columns(rows), profile === "full" ? TIGHT : LOOSE)
  );
}

import { at, show } from "../../client/json.ts";
import { type Check, defineCheck } from "../../trial/check.ts";
import { RANK, SYSTEMONE } from "../../trial/operations.ts";
import type { Inferred, Trial } from "../../trial/trial.ts";
import { type Row, rowsOf, STATE, scoredOf, texts } from "../scored.ts";

const MAPPED = {
  tray: "Open tray 2 and pull the sheet out.",
  ink: "Buy new ink.",
  wait: "Wait a minute.",
  "7": "Seven.",
};

/** Pairs of different texts that many tokenizers map to the same tokens, in both orders. */
const LOOKALIKES = [
  ["Later", "LATER", "later", "latER"],
  ["two words", "two  words", "two   words"],
  ["cafe\u0301", "caf\u00e9"],
  ["a\u200bb", "ab"],
  ["tab here", "tab\there"],
  ["7\u200b", "7"], // languages that sort integer-like names put the second of these first
].flatMap((alike) => [alike, alike.toReversed()]);

/** Checks of the order and the members of a ranking's rows. */
export const RANKING_CHECKS: readonly Check[] = [
  defineCheck({
    id: "rank.order",
    clause: "`ranked` is sorted by raw score, highest first.",
    source: "interface: Ranking",
    expected: "no score above the one before it",
    run: async (trial: Trial) => {
      for (const candidates of [
        texts(12),
        Object.fromEntries(texts(12).map((text) => [`l ${text}`, text])),
      ]) {
        const inferred = await trial.infer(RANK, { state: STATE, question: "Which level fits?", candidates });
        const rows = rowsOf(trial, inferred);
        for (const [index, { score }] of rows.entries()) {
          const before = rows[index - 1]?.score ?? Number.POSITIVE_INFINITY;
          trial.expect(score <= before, `a score of ${score} after ${before}`, inferred);
        }
      }
    },
  }),
  defineCheck({
    id: "rank.ranks",
    clause: "`rank` counts from 1.",
    source: "interface: Ranking",
    expected: "1, 2, 3, ... along the list",
    run: async (trial: Trial) => {
      const inferred = await trial.infer(RANK, { state: STATE, candidates: texts(6) });
      const ranks = rowsOf(trial, inferred).map(({ rank }) => rank);
      trial.expect(ranks.join() === "1,2,3,4,5,6", `the ranks ${ranks.join()}`, inferred);
    },
  }),
  defineCheck({
    id: "rank.labels",
    clause: "`candidate` is the label and `text` the string that were sent.",
    source: "interface: Ranking",
    expected: "each label once, beside its own text",
    run: async (trial: Trial) => {
      const inferred = await trial.infer(RANK, { state: STATE, candidates: MAPPED });
      checkPairs(trial, rowsOf(trial, inferred), Object.entries(MAPPED), inferred);
    },
  }),
  defineCheck({
    id: "rank.list-labels",
    clause: "Candidates of a list are labelled by the string of their position.",
    source: "interface: RankRequest",
    expected: "the labels 0 to n-1 as strings, beside the text at that position",
    run: async (trial: Trial) => {
      const candidates = texts(12).reverse();
      const inferred = await trial.infer(RANK, { state: STATE, candidates });
      const pairs = candidates.map((text, index): [string, string] => [String(index), text]);
      checkPairs(trial, rowsOf(trial, inferred), pairs, inferred);
    },
  }),
  defineCheck({
    id: "rank.text-as-sent",
    clause: "`text` is the candidate string as it was sent.",
    source: "interface: Ranking",
    expected: "the same characters, including white space around them",
    run: async (trial: Trial) => {
      const candidates = [" padded ", "line\nbreak", 'quote " \\', "ü 漢 😀", "e\u0301", "<b>&amp;</b>"];
      const inferred = await trial.infer(RANK, { state: STATE, candidates });
      const pairs = candidates.map((text, index): [string, string] => [String(index), text]);
      checkPairs(trial, rowsOf(trial, inferred), pairs, inferred);
    },
  }),
  defineCheck({
    id: "rank.odd-labels",
    clause: "A label may be any string: the empty one, and names that programming languages treat specially.",
    source: "contract: Requests, Question",
    expected: "each label beside its own text",
    run: async (trial: Trial) => {
      const pairs: readonly (readonly [string, string])[] = [
        ["__proto__", "proto text"],
        ["constructor", "constructor text"],
        ["", "no label"],
        ["toString", "string text"],
        ["10", "ten"],
        ["2", "two"],
        ["hasOwnProperty", "own"],
      ];
      const members = pairs.map(([label, text]) => `${JSON.stringify(label)}:${JSON.stringify(text)}`);
      const inferred = await trial.infer(RANK, `{"state":"s","candidates":{${members.join()}}}`);
      checkPairs(trial, rowsOf(trial, inferred), pairs, inferred);
    },
  }),
  defineCheck({
    id: "rank.ties",
    clause: "Candidates with equal scores keep the order of the request.",
    source: "interface: Ranking",
    expected: "the order sent, for a list and for a map",
    run: async (trial: Trial) => {
      let ties = 0;
      for (const alike of LOOKALIKES) {
        ties += await countTies(trial, alike);
      }
      if (ties === 0) trial.skip("found no two different texts with equal scores on this server");
    },
  }),
  defineCheck({
    id: "systemone.ties",
    clause: "Among labels with equal scores, the first in the request is the choice.",
    source: "contract: Requests",
    expected: "the first label in the request among those with the largest score",
    run: async (trial: Trial) => {
      let ties = 0;
      for (const alike of LOOKALIKES) {
        // a label without a description is its own text
        const criteria = alike.map((label): [string, null] => [label, null]);
        const question = `{"type":"choice","instructions":"Which one?","criteria":${orderedJson(criteria)}}`;
        const body = `{"state":${JSON.stringify(STATE)},"questions":{"q":${question}}}`;
        const inferred = await trial.infer(SYSTEMONE, body);
        const { answer, labels, scores } = scoredOf(trial, inferred, "q");
        const largest = Math.max(...scores);
        if (scores.filter((score) => score === largest).length < 2) continue;
        ties += 1;
        const first = alike.find((label) => scores[labels.indexOf(label)] === largest);
        const choice = at(answer, "choice");
        trial.expect(
          choice === first,
          `${show(choice)}, where ${JSON.stringify(first)} comes first`,
          inferred,
        );
      }
      if (ties === 0) trial.skip("found no two different labels with equal scores on this server");
    },
  }),
];

function checkPairs(
  trial: Trial,
  rows: readonly Row[],
  pairs: readonly (readonly [string, string])[],
  inferred: Inferred,
): void {
  trial.expect(rows.length === pairs.length, `${rows.length} rows for ${pairs.length} candidates`, inferred);
  for (const [label, text] of pairs) {
    const found = rows.filter(({ candidate }) => candidate === label);
    trial.expect(
      found.length === 1,
      `${found.length} rows with the label ${JSON.stringify(label)}`,
      inferred,
    );
    trial.expect(
      found[0]?.text === text,
      `the text ${JSON.stringify(found[0]?.text)} beside ${JSON.stringify(label)}`,
      inferred,
    );
  }
}

/** A JSON object with its members in the given order, integer-like names included. */
function orderedJson(members: readonly (readonly [string, unknown])[]): string {
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join()}}`;
}

/**
 * Ranks texts that may have equal scores, as a list and as mappings with unsorted labels. @returns the number of ties
 */
async function countTies(trial: Trial, alike: readonly string[]): Promise<number> {
  let ties = 0;
  const mapped = [
    ["m", "c", "x", "a"],
    ["10", "x", "2", "1"],
  ].map((labels) => orderedJson(alike.map((text, index) => [labels[index] ?? String(index), text])));
  for (const candidates of [JSON.stringify(alike), ...mapped]) {
    const body = `{"state":${JSON.stringify(STATE)},"question":"When?","candidates":${candidates}}`;
    const inferred = await trial.infer(RANK, body);
    const rows = rowsOf(trial, inferred);
    for (const [index, row] of rows.entries()) {
      const before = rows[index - 1];
      if (before === undefined || before.score !== row.score) continue;
      ties += 1;
      trial.expect(
        alike.indexOf(before.text) < alike.indexOf(row.text),
        `equal scores: ${JSON.stringify(before.text)} before ${JSON.stringify(row.text)}`,
        inferred,
      );
    }
  }
  return ties;
}

import { at } from "../../client/json.ts";
import { type Check, checksOf } from "../../trial/check.ts";
import { RANK, SYSTEMONE } from "../../trial/operations.ts";
import type { Inferred, Trial } from "../../trial/trial.ts";
import { rowsOf, STATE, scoredOf, texts } from "../scored.ts";
import { labelsMisfit, orderMisfit, ranksMisfit, tiesIn, tiesMisfit } from "./arithmetic.ts";

const MAPPED = {
  tray: "Open tray 2 and pull the sheet out.",
  ink: "Buy new ink.",
  wait: "Wait a minute.",
  "7": "Seven.",
};
const AS_SENT = [" padded ", "line\nbreak", 'quote " \\', "ü 漢 😀", "e\u0301", "<b>&amp;</b>"];
const ODD_LABELS = ["__proto__", "constructor", "", "toString", "10", "2", "hasOwnProperty"];

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
  ...checksOf("interface: Ranking", {
    "rank.order": {
      clause: "`ranked` is sorted by raw score, highest first.",
      expected: "no score above the one before it",
      run: async (trial) => {
        const mapped = Object.fromEntries(texts(12).map((text) => [`l ${text}`, text]));
        for (const candidates of [texts(12), mapped]) {
          const body = { state: STATE, question: "Which level fits?", candidates };
          const inferred = await trial.infer(RANK, body);
          trial.fits(orderMisfit(rowsOf(trial, inferred)), inferred);
        }
      },
    },
    "rank.ranks": {
      clause: "`rank` counts from 1.",
      expected: "1, 2, 3, ... along the list",
      run: async (trial) => {
        const inferred = await trial.infer(RANK, { state: STATE, candidates: texts(6) });
        trial.fits(ranksMisfit(rowsOf(trial, inferred)), inferred);
      },
    },
    "rank.labels": {
      clause: "`candidate` is the label and `text` the string that were sent.",
      expected: "each label once, beside its own text",
      run: (trial) => checkLabels(trial, Object.entries(MAPPED)),
    },
    "rank.text-as-sent": {
      clause: "`text` is the candidate string as it was sent.",
      expected: "the same characters, including white space around them",
      run: (trial) => checkListed(trial, AS_SENT),
    },
    "rank.ties": {
      clause: "Candidates with equal scores keep the order of the request.",
      expected: "the order sent, for a list and for a map",
      run: async (trial) => {
        let ties = 0;
        for (const alike of LOOKALIKES) ties += await countTies(trial, alike);
        if (ties === 0) trial.skip("found no two different texts with equal scores on this server");
      },
    },
  }),
  ...checksOf("interface: RankRequest", {
    "rank.list-labels": {
      clause: "Candidates of a list are labelled by the string of their position.",
      expected: "the labels 0 to n-1 as strings, beside the text at that position",
      run: (trial) => checkListed(trial, texts(12).reverse()),
    },
  }),
  ...checksOf("contract: Requests, Question", {
    "rank.odd-labels": {
      clause:
        "A label may be any string: the empty one, and names that programming languages treat specially.",
      expected: "each label beside its own text",
      run: (trial) =>
        checkLabels(
          trial,
          ODD_LABELS.map((label) => [label, `text of ${label}`] as const),
        ),
    },
  }),
  ...checksOf("contract: Requests", {
    "systemone.ties": {
      clause: "Among labels with equal scores, the first in the request is the choice.",
      expected: "the first label in the request among those with the largest score",
      run: async (trial) => {
        let ties = 0;
        for (const alike of LOOKALIKES) {
          // a label without a description is its own text
          const criteria = orderedJson(alike.map((label): [string, null] => [label, null]));
          const question = `{"type":"choice","instructions":"Which one?","criteria":${criteria}}`;
          const body = `{"state":${JSON.stringify(STATE)},"questions":{"q":${question}}}`;
          const inferred = await trial.infer(SYSTEMONE, body);
          const { answer, labels, scores } = scoredOf(trial, inferred, "q");
          const largest = Math.max(...scores);
          if (scores.filter((score) => score === largest).length < 2) continue;
          ties += 1;
          const first = alike.find((label) => scores[labels.indexOf(label)] === largest);
          trial.equal("choice", at(answer, "choice"), first, inferred);
        }
        if (ties === 0) trial.skip("found no two different labels with equal scores on this server");
      },
    },
  }),
];

async function checkListed(trial: Trial, candidates: readonly string[]): Promise<void> {
  const inferred = await trial.infer(RANK, { state: STATE, candidates });
  const labelled = candidates.map((text, index) => [String(index), text] as const);
  trial.fits(labelsMisfit(rowsOf(trial, inferred), labelled), inferred);
}

async function checkLabels(trial: Trial, labelled: readonly (readonly [string, string])[]): Promise<void> {
  const inferred = await rankMapped(trial, labelled);
  trial.fits(labelsMisfit(rowsOf(trial, inferred), labelled), inferred);
}

function rankMapped(trial: Trial, labelled: readonly (readonly [string, string])[]): Promise<Inferred> {
  return trial.infer(RANK, `{"state":${JSON.stringify(STATE)},"candidates":${orderedJson(labelled)}}`);
}

/** A JSON object with its members in the given order, integer-like names included. */
function orderedJson(members: readonly (readonly [string, unknown])[]): string {
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join()}}`;
}

/** Ranks texts that may have equal scores, as a list and as mappings with unsorted labels. @returns the number of ties */
async function countTies(trial: Trial, alike: readonly string[]): Promise<number> {
  const mapped = [
    ["m", "c", "x", "a"],
    ["10", "x", "2", "1"],
  ].map((labels) =>
    rankMapped(
      trial,
      alike.map((text, index) => [labels[index] ?? "", text] as const),
    ),
  );
  const listed = trial.infer(RANK, { state: STATE, candidates: alike });
  let ties = 0;
  for (const inferred of await Promise.all([listed, ...mapped])) {
    const rows = rowsOf(trial, inferred);
    ties += tiesIn(rows).length;
    trial.fits(tiesMisfit(rows, alike), inferred);
  }
  return ties;
}

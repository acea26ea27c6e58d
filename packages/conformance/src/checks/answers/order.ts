import { at, namesOf } from "../../client/json.ts";
import { type Check, checksOf } from "../../trial/check.ts";
import { SYSTEMONE } from "../../trial/operations.ts";
import type { Trial } from "../../trial/trial.ts";
import { STATE } from "../scored.ts";

/** Written out as text: JavaScript would move names that look like integers to the front. */
const LABELS = ["10", "2", "x", "1", "a", "0"];
const NAMES = ["7", "z", "3", "b", "0", "12"];
const ODD = ["__proto__", "constructor", "", "hasOwnProperty", "toString", "prototype"];
const EXACT = ["é", "e\u0301", " pad ", 'a"b\\c', "\u0000", "😀", "line\nbreak", "\u2028", "x".repeat(1000)];

/** Checks of the order of members in the text of an answer. */
export const ORDER_CHECKS: readonly Check[] = [
  ...checksOf("contract: Requests", {
    "order.answers": {
      clause: "`answers` has the order of the questions, also if names look like integers.",
      expected: `the names in the order ${NAMES.join(", ")}`,
      run: (trial) => checkNames(trial, NAMES),
    },
    ...Object.fromEntries(
      ["probabilities", "scores"].map((member) => [
        `order.${member}`,
        {
          clause: `\`${member}\` has the order of the criteria, also if labels look like integers.`,
          expected: `the labels in the order ${LABELS.join(", ")}`,
          run: (trial: Trial) => checkLabels(trial, LABELS, [member]),
        },
      ]),
    ),
    "order.exact-names": {
      clause: "Names are returned exactly as sent.",
      expected:
        "the same characters: accents in both Unicode forms, control characters, line separators, long names",
      run: async (trial) => {
        await checkNames(trial, EXACT);
        await checkLabels(trial, EXACT, ["scores"]);
      },
    },
  }),
  ...checksOf("contract: Requests, Question", {
    "order.odd-names": {
      clause: "A question name and a label may be any string: the empty one, `__proto__`, `constructor`.",
      expected: "each of them in its place, as ordinary data",
      run: async (trial) => {
        await checkNames(trial, ODD);
        // an empty label is valid because it has a description
        await checkLabels(trial, ODD, ["scores", "probabilities"]);
      },
    },
  }),
];

function checkNames(trial: Trial, names: readonly string[]): Promise<void> {
  return checkOrder(trial, names, ["a", "b"], [["answers"]], names);
}

function checkLabels(trial: Trial, labels: readonly string[], members: readonly string[]): Promise<void> {
  const places = members.map((member) => ["answers", "q", member]);
  return checkOrder(trial, ["q"], labels, places, labels);
}

async function checkOrder(
  trial: Trial,
  questions: readonly string[],
  labels: readonly string[],
  places: readonly (readonly string[])[],
  wanted: readonly string[],
): Promise<void> {
  const criteria = labels.map((label, index) => `${JSON.stringify(label)}:"description ${index}"`).join();
  const question = `{"type":"choice","instructions":"Which one?","criteria":{${criteria}}}`;
  const asked = questions.map((name) => `${JSON.stringify(name)}:${question}`).join();
  const body = `{"state":${JSON.stringify(STATE)},"questions":{${asked}}}`;
  const inferred = await trial.infer(SYSTEMONE, body);
  for (const place of places) {
    const came = JSON.stringify(namesOf(at(inferred.json, ...place)));
    trial.expect(came === JSON.stringify(wanted), `the order ${came}`, inferred);
  }
}

import { at, namesOf } from "../../client/json.ts";
import { type Check, defineCheck } from "../../trial/check.ts";
import { SYSTEMONE } from "../../trial/operations.ts";
import type { Trial } from "../../trial/trial.ts";
import { STATE } from "../scored.ts";

/** Written out as text: JavaScript would move names that look like integers to the front. */
const LABELS = ["10", "2", "x", "1", "a", "0"];
const NAMES = ["7", "z", "3", "b", "0", "12"];
const ODD = ["__proto__", "constructor", "", "hasOwnProperty", "toString", "prototype"];

/** Checks of the order of members in the text of an answer. */
export const ORDER_CHECKS: readonly Check[] = [
  defineCheck({
    id: "order.answers",
    clause: "`answers` has the order of the questions, also if names look like integers.",
    source: "contract: Requests",
    expected: `the names in the order ${NAMES.join(", ")}`,
    run: (trial: Trial) => checkOrder(trial, NAMES, ["a", "b"], ["answers"]),
  }),
  ...["probabilities", "scores"].map((member) =>
    defineCheck({
      id: `order.${member}`,
      clause: `\`${member}\` has the order of the criteria, also if labels look like integers.`,
      source: "contract: Requests",
      expected: `the labels in the order ${LABELS.join(", ")}`,
      run: (trial: Trial) => checkOrder(trial, ["q"], LABELS, ["answers", "q", member]),
    }),
  ),
  defineCheck({
    id: "order.odd-names",
    clause: "A question name and a label may be any string: the empty one, `__proto__`, `constructor`.",
    source: "contract: Requests, Question",
    expected: "each of them in its place, as ordinary data",
    run: async (trial: Trial) => {
      await checkOrder(trial, ODD, ["a", "b"], ["answers"]);
      // an empty label is valid because it has a description
      await checkOrder(trial, ["q"], ODD, ["answers", "q", "scores"]);
      await checkOrder(trial, ["q"], ODD, ["answers", "q", "probabilities"]);
    },
  }),
  defineCheck({
    id: "order.exact-names",
    clause: "Names are returned exactly as sent.",
    source: "contract: Requests",
    expected:
      "the same characters: accents in both Unicode forms, control characters, line separators, long names",
    run: async (trial: Trial) => {
      const names = [
        "é",
        "e\u0301",
        " pad ",
        'a"b\\c',
        "\u0000",
        "😀",
        "line\nbreak",
        "\u2028",
        "x".repeat(1000),
      ];
      await checkOrder(trial, names, ["a", "b"], ["answers"]);
      await checkOrder(trial, ["q"], names, ["answers", "q", "scores"]);
    },
  }),
];

async function checkOrder(
  trial: Trial,
  questions: readonly string[],
  labels: readonly string[],
  path: readonly string[],
): Promise<void> {
  const criteria = labels.map((label, index) => `${JSON.stringify(label)}:"description ${index}"`).join();
  const question = `{"type":"choice","instructions":"Which one?","criteria":{${criteria}}}`;
  const asked = questions.map((name) => `${JSON.stringify(name)}:${question}`).join();
  const body = `{"state":${JSON.stringify(STATE)},"questions":{${asked}}}`;
  const inferred = await trial.infer(SYSTEMONE, body);
  const came = namesOf(at(inferred.json, ...path));
  const wanted = path.length === 1 ? questions : labels;
  trial.expect(
    JSON.stringify(came) === JSON.stringify(wanted),
    `the order ${JSON.stringify(came)}`,
    inferred,
  );
}

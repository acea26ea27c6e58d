import type { JsonObject } from "../../json/value.ts";
import type { Explanation, Reading, StatePart, Token, TokenExplanation } from "../../library/index.ts";
import { candidatesOf } from "../questions-file.ts";
import { type ShownCandidate, showAnswer } from "./show.ts";

/** Of a line with tokens or a part of the state. Chosen: fits a terminal of 100 columns. */
const WIDTH = 96;
/** Of the longest bar, in characters. */
const BAR = 16;

/**
 * An explanation for a terminal: what is read, then each answer with what moved it.
 *
 * @param asked   the questions in their order
 * @param isNamed whether their names are the caller's own
 */
export function showExplanation(
  explanation: Explanation | TokenExplanation,
  { questions: asked, isNamed }: { readonly questions: JsonObject; readonly isNamed: boolean },
): string {
  const { state, limits, model } = explanation;
  const unknown = unknownWords(explanation);
  const lines = [
    `${model} reads`,
    "",
    `state: ${countText(state, limits.max_state_question_tokens)}`,
    ...tokenLines(state),
    ...[...asked].flatMap(([name, question]) =>
      questionLines(explanation, name, isNamed ? oneLine(name) : "question", candidatesOf(question)),
    ),
    "",
    unknown.length === 0 ? "no unknown words" : `unknown to the model: ${unknown.join(", ")}`,
  ];
  if (!("answers" in explanation)) return lines.join("\n");
  const answers = [...asked].flatMap(([name, question]) => [
    "",
    ...answerLines(name, candidatesOf(question), explanation),
  ]);
  return [...lines, ...answers].join("\n");
}

function questionLines(
  { questions, limits }: TokenExplanation,
  name: string,
  title: string,
  candidates: readonly ShownCandidate[],
): readonly string[] {
  const read = questions[name];
  if (read === undefined) return [];
  const ofCandidates = candidates.flatMap(({ label, text }) => {
    const candidate = read.candidates[label];
    if (candidate === undefined) return [];
    const count = countText(candidate, limits.max_candidate_tokens);
    return [`  ${oneLine(text)}: ${count}`, ...tokenLines(candidate, "    ")];
  });
  const together = ofLimit(read.state_question_tokens, limits.max_state_question_tokens);
  return [
    "",
    `${title}: ${countText(read.instructions, undefined)}; with the state ${together}`,
    ...tokenLines(read.instructions),
    ...ofCandidates,
  ];
}

function answerLines(
  name: string,
  candidates: readonly ShownCandidate[],
  { answers, influence }: Explanation,
): readonly string[] {
  const answer = answers[name];
  if (answer === undefined) return [];
  const head = `${oneLine(name)}: ${showAnswer(answer, candidates)}`;
  if (influence.length === 0) return [head, "  the state has one part only: nothing can be left out"];
  const shares: Readonly<Record<string, number>> = answer.probabilities;
  const best = [...candidates].sort((a, b) => (shares[b.label] ?? 0) - (shares[a.label] ?? 0))[0]?.label;
  const largest = Math.max(...influence.map((part) => Math.abs(shiftOf(part, name))));
  return [
    head,
    `  what each part of the state adds to ${JSON.stringify(best)}, in points of a hundred:`,
    ...influence.map((part) => partLine(part, name, { best, largest })),
  ];
}

function partLine(
  part: StatePart,
  name: string,
  { best, largest }: { best: string | undefined; largest: number },
): string {
  const shift = shiftOf(part, name);
  const points = `${shift < 0 ? "-" : "+"}${(100 * Math.abs(shift)).toFixed(1)}`.padStart(7);
  const bar = "█".repeat(largest === 0 ? 0 : Math.round((BAR * Math.abs(shift)) / largest)).padEnd(BAR);
  const without = part.questions[name]?.answer;
  const turned = without === best ? "" : ` (without it: ${without})`;
  return `  ${points} ${bar} ${cut(oneLine(part.text), WIDTH - BAR - 11 - turned.length)}${turned}`;
}

const shiftOf = ({ questions }: StatePart, name: string) => questions[name]?.shift ?? 0;

function countText({ tokens, was_kept: wasKept }: Reading, most: number | undefined): string {
  const count = most === undefined ? counted(tokens.length) : ofLimit(tokens.length, most);
  return wasKept ? `${count}, from the cache` : count;
}

const counted = (tokens: number) => `${tokens} ${tokens === 1 ? "token" : "tokens"}`;
const ofLimit = (tokens: number, most: number) =>
  `${counted(tokens)} of ${most} (${((100 * tokens) / most).toFixed(1)} %)`;

/** The tokens, some to a line. */
function tokenLines({ tokens }: Reading, indent = "  "): readonly string[] {
  const lines: string[] = [];
  let line = indent;
  for (const token of tokens) {
    const word = tokenText(token);
    if (line.length > indent.length && line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = indent;
    }
    line += line.length > indent.length ? ` ${word}` : word;
  }
  return line.length > indent.length ? [...lines, line] : lines;
}

/** White space within a token is shown, so that it does not look like the end of one. */
function tokenText({ text, source, is_unknown: isUnknown }: Token): string {
  const shown = text.replaceAll("\n", "⏎").replaceAll(" ", "▁");
  return isUnknown && source !== undefined ? `${shown}=${oneLine(source)}` : shown;
}

function unknownWords({ state, questions }: TokenExplanation): readonly string[] {
  const readings = [
    state,
    ...Object.values(questions).flatMap(({ instructions, candidates }) => [
      instructions,
      ...Object.values(candidates),
    ]),
  ];
  const unknown = readings.flatMap(({ tokens }) => tokens.filter((token) => token.is_unknown));
  return [...new Set(unknown.map(({ text, source }) => source ?? text))].map(oneLine);
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, " ").trim();
const cut = (text: string, most: number) =>
  text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1))}…`;

import type { JsonObject } from "../../json/value.ts";
import type {
  Explanation,
  PartInfluence,
  QuestionReading,
  RankingExplanation,
  RankingTokens,
  Reading,
  Token,
  TokenExplanation,
} from "../../library/index.ts";
import { candidatesOf } from "../questions-file.ts";
import { leftOut } from "./left-out.ts";
import { oneLine, type ShownCandidate, showAnswer, showRanking } from "./show.ts";

/** Maximum width of a line with tokens or a part of the state. Chosen to fit a terminal of 100 columns. */
const WIDTH = 96;
/** Length of the longest bar, in characters. */
const BAR = 16;
/** Maximum length of a candidate's name in a line about a part. Chosen: leaves half of the line to the part. */
const NAME = 40;

/**
 * An explanation for a terminal: the tokens read, then each answer with the effect of each part of the state.
 *
 * @param asked   the questions in their order
 * @param isNamed whether the caller named the questions
 */
export function showExplanation(
  explanation: Explanation | TokenExplanation,
  { questions: asked, isNamed }: { readonly questions: JsonObject; readonly isNamed: boolean },
): string {
  const questions = [...asked].flatMap(([name, question]) => {
    const read = explanation.questions[name];
    return read === undefined
      ? []
      : [{ title: isNamed ? oneLine(name) : "question", read, candidates: candidatesOf(question) }];
  });
  const lines = readLines(explanation, questions);
  if (!("answers" in explanation)) return lines.join("\n");
  const answers = [...asked].flatMap(([name, question]) => [
    "",
    ...answerLines(name, candidatesOf(question), explanation),
  ]);
  return [...lines, ...answers].join("\n");
}

/**
 * The explanation of a ranking for a terminal.
 *
 * @param sent the candidates in the order of the request
 */
export function showRankingExplanation(
  explanation: RankingExplanation | RankingTokens,
  sent: readonly string[],
): string {
  const candidates = sent.map((text, at) => ({ label: String(at), text }));
  const lines = readLines(explanation, [{ title: "question", read: explanation.question, candidates }]);
  if (!("ranked" in explanation)) return lines.join("\n");
  const { ranked, influence } = explanation;
  const moved = influenceLines(
    influence.map(({ text, question }) => ({ text, ...question })),
    { best: ranked[0]?.candidate, named: (label) => cut(oneLine(sent[Number(label)] ?? ""), NAME) },
  );
  return [...lines, "", showRanking(explanation), ...moved].join("\n");
}

interface ReadQuestion {
  readonly title: string;
  readonly read: QuestionReading;
  readonly candidates: readonly ShownCandidate[];
}

type Texts = TokenExplanation | RankingTokens;

function readLines(explanation: Texts, questions: readonly ReadQuestion[]): readonly string[] {
  const { state, limits, model } = explanation;
  const readings = readingsOf(
    state,
    questions.map(({ read }) => read),
  );
  const unknown = unknownWords(readings);
  const missing = [...new Set(readings.flatMap(leftOut))];
  return [
    `${model} reads`,
    "",
    `state: ${countText(state, limits.max_state_question_tokens)}`,
    ...tokenLines(state),
    ...questions.flatMap((question) => questionLines(question, limits)),
    "",
    unknown.length === 0 ? "no unknown words" : `unknown to the model: ${unknown.join(", ")}`,
    ...(missing.length === 0 ? [] : [`left out: ${missing.join(", ")}`]),
    ...questions.flatMap(sameLines),
  ];
}

/** A line for each group of candidates that are the same tokens. */
function sameLines({ title, read, candidates }: ReadQuestion): readonly string[] {
  const byTokens = new Map<string, string[]>();
  for (const { label, text } of candidates) {
    const tokens = read.candidates[label]?.tokens.map(({ id }) => id).join(" ");
    if (tokens === undefined) continue;
    byTokens.set(tokens, [...(byTokens.get(tokens) ?? []), JSON.stringify(cut(oneLine(text), NAME))]);
  }
  const groups = [...byTokens.values()].filter((same) => same.length > 1);
  return groups.map((same) => `the same to the model (${title}): ${same.join(", ")}`);
}

function questionLines(
  { title, read, candidates }: ReadQuestion,
  limits: Texts["limits"],
): readonly string[] {
  const ofCandidates = candidates.flatMap(({ label, text }) => {
    const candidate = read.candidates[label];
    if (candidate === undefined) return [];
    const count = countText(candidate, limits.max_candidate_tokens);
    return [`  ${oneLine(text)}: ${count}`, ...tokenLines(candidate, "    ")];
  });
  const { state_question_tokens: both } = read;
  const together =
    both === undefined ? "" : `; with the state ${ofLimit(both, limits.max_state_question_tokens)}`;
  return [
    "",
    `${title}: ${countText(read.instructions, undefined)}${together}`,
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
  const shares: Readonly<Record<string, number>> = answer.probabilities;
  const best = [...candidates].sort((a, b) => (shares[b.label] ?? 0) - (shares[a.label] ?? 0))[0]?.label;
  const parts = influence.flatMap(({ text, questions }) => {
    const moved = questions[name];
    return moved === undefined ? [] : [{ text, ...moved }];
  });
  const moved = influenceLines(parts, { best, named: (label) => label });
  return [`${oneLine(name)}: ${showAnswer(answer, candidates)}`, ...moved];
}

type MovingPart = PartInfluence & { readonly text: string };

interface Best {
  /** Label of the answer. */
  readonly best: string | undefined;
  /** How a label is shown. */
  named(label: string): string;
}

function influenceLines(parts: readonly MovingPart[], { best = "", named }: Best): readonly string[] {
  if (parts.length === 0) return ["  the state has only one part, so no part can be left out"];
  const largest = Math.max(...parts.map(({ shift }) => Math.abs(shift)));
  return [
    `  what each part of the state adds to ${JSON.stringify(named(best))}, in percentage points:`,
    ...parts.map((part) => partLine(part, largest, part.answer === best ? undefined : named(part.answer))),
  ];
}

/** @param other the answer without the part, if it differs */
function partLine({ text, shift }: MovingPart, largest: number, other: string | undefined): string {
  const points = `${shift < 0 ? "-" : "+"}${(100 * Math.abs(shift)).toFixed(1)}`.padStart(7);
  const bar = "█".repeat(largest === 0 ? 0 : Math.round((BAR * Math.abs(shift)) / largest)).padEnd(BAR);
  const turned = other === undefined ? "" : ` (without it: ${other})`;
  return `  ${points} ${bar} ${cut(oneLine(text), WIDTH - BAR - 11 - turned.length)}${turned}`;
}

function countText({ tokens, was_kept: wasCached }: Reading, most: number | undefined): string {
  const count = most === undefined ? counted(tokens.length) : ofLimit(tokens.length, most);
  return wasCached ? `${count}, from the cache` : count;
}

const counted = (tokens: number) => `${tokens} ${tokens === 1 ? "token" : "tokens"}`;
const ofLimit = (tokens: number, most: number) =>
  `${counted(tokens)} of ${most} (${((100 * tokens) / most).toFixed(1)} %)`;

/** Lines of tokens. */
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

/** A token's text with its white space made visible, since spaces also separate tokens. */
function tokenText({ text, source, is_unknown: isUnknown }: Token): string {
  const shown = text.replaceAll("\n", "⏎").replaceAll(" ", "▁");
  return isUnknown && source !== undefined ? `${shown}=${oneLine(source)}` : shown;
}

function readingsOf(state: Reading, questions: readonly QuestionReading[]): readonly Reading[] {
  return [
    state,
    ...questions.flatMap(({ instructions, candidates }) => [instructions, ...Object.values(candidates)]),
  ];
}

function unknownWords(readings: readonly Reading[]): readonly string[] {
  const unknown = readings.flatMap(({ tokens }) => tokens.filter((token) => token.is_unknown));
  return [...new Set(unknown.map(({ text, source }) => source ?? text))].map(oneLine);
}

const cut = (text: string, most: number) =>
  text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1))}…`;

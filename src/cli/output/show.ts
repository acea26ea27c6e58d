import type { components } from "../../../generated/types.ts";

type Answer = components["schemas"]["Answer"];
type Ranking = components["schemas"]["Ranking"];

/** A candidate: its label in the answer and its text on the terminal. */
export interface ShownCandidate {
  readonly label: string;
  readonly text: string;
}

/**
 * Formats an answer for a terminal: the decision, then each candidate with its probability.
 *
 * @param candidates in the order to show them in
 */
export function showAnswer(answer: Answer, candidates: readonly ShownCandidate[]): string {
  const rows = candidates.map(
    ({ label, text }) => `  ${share(answer.probabilities[label] ?? 0)}  ${oneLine(text)}`,
  );
  return [headline(answer, candidates.length), ...rows].join("\n");
}

/** Formats the answers to several questions, each below its name. */
export function showAnswers(answers: readonly { readonly name: string; readonly text: string }[]): string {
  return answers.map(({ name, text }) => `${oneLine(name)}: ${text}`).join("\n");
}

/** Formats a ranking for a terminal, best first. */
export function showRanking({ ranked }: Pick<Ranking, "ranked">): string {
  return ranked
    .map(({ rank, probability, text }) => `${rank}. ${share(probability)}  ${oneLine(text)}`)
    .join("\n");
}

function headline(answer: Answer, count: number): string {
  switch (answer.type) {
    case "choice":
      return answer.choice;
    case "noul":
      return answer.noul >= 0.5 ? "true" : "false";
    case "score":
      return `${answer.score.toFixed(2)} on levels 0 to ${count - 1}`;
  }
}

/** Puts a text on one line. */
export const oneLine = (text: string) => text.replaceAll(/\s+/g, " ").trim();
const share = (probability: number) => `${(100 * probability).toFixed(1).padStart(5)} %`;

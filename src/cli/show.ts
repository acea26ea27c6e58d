import type { components } from "../../generated/types.ts";

type Answer = components["schemas"]["Answer"];
type Ranking = components["schemas"]["Ranking"];

/**
 * An answer for a terminal: the decision, then each candidate with its probability.
 *
 * @param labels in the order to show them in
 */
export function showAnswer(answer: Answer, labels: readonly string[]): string {
  const width = Math.max(...labels.map((label) => label.length));
  const rows = labels.map((label) =>
    `  ${share(answer.probabilities[label] ?? 0)}  ${label.padEnd(width)}`.trimEnd(),
  );
  return [headline(answer), ...rows].join("\n");
}

/** A ranking for a terminal, the best first. */
export function showRanking({ ranked }: Ranking): string {
  return ranked.map(({ rank, probability, text }) => `${rank}. ${share(probability)}  ${text}`).join("\n");
}

function headline(answer: Answer): string {
  switch (answer.type) {
    case "choice":
      return answer.choice;
    case "noul":
      return answer.noul >= 0.5 ? "true" : "false";
    case "score":
      return answer.score.toFixed(2);
  }
}

const share = (probability: number) => `${(100 * probability).toFixed(1).padStart(5)} %`;

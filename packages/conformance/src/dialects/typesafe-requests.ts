import { at } from "../client/json.ts";
import { type Check, type CheckDraft, defineCheck } from "../trial/check.ts";
import type { Inferred, Trial } from "../trial/trial.ts";

export const PATH = "/v1/systemone";
export const STATE = "I was charged twice for one order. Give me my money back today!";
export const NOUL = { type: "noul", instructions: "The customer is angry." };
export const CHOICE = {
  type: "choice",
  instructions: "What does the customer want?",
  criteria: { refund: "Wants money back", cancel: null, other: "Anything else" },
};
const LEVELS = ["can wait", "this week", "today"];
export const SCORE = { type: "score", instructions: "How urgent is this?", criteria: LEVELS };

/** The smallest request. It shows whether a server requires a key. */
export const TYPESAFE_REQUEST = {
  path: PATH,
  body: { state: STATE, model: "jev-latest", questions: { q: NOUL } },
};

export const draft = (
  given: Omit<CheckDraft, "profile" | "source" | "id"> & { readonly id: string },
): Check =>
  defineCheck({
    ...given,
    id: `typesafe.${given.id}`,
    source: "typesafe: /v1/systemone",
    profile: "typesafe",
  });

export async function ask(trial: Trial, questions: object, others: object = {}): Promise<Inferred> {
  return await trial.infer(PATH, { state: STATE, model: "jev-latest", questions, ...others });
}

export const answerOf = ({ json }: Inferred, name = "q") => at(json, "answers", name);

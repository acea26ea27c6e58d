import { at } from "../client/json.ts";
import { type Check, type Drafts, dialectChecks } from "../trial/check.ts";
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

export const typesafeChecks = (drafts: Drafts): readonly Check[] =>
  dialectChecks("typesafe", "/v1/systemone", drafts);

export async function ask(trial: Trial, questions: object, others: object = {}): Promise<Inferred> {
  return await trial.infer(PATH, { state: STATE, model: "jev-latest", questions, ...others });
}

export const answerOf = ({ json }: Inferred, name = "q") => at(json, "answers", name);

/** Refusals of a missing and of a wrong key, with the statuses that each may have. @throws CannotTell without a key */
export async function keyRefusals(trial: Trial) {
  if (!trial.facts.wantsKey) trial.skip("the server requires no key");
  const send = (headers: Readonly<Record<string, string>>) =>
    trial.post(PATH, TYPESAFE_REQUEST.body, { hasKey: false, headers });
  return { missing: await send({}), wrong: await send({ authorization: "Bearer wrong" }) };
}

import type { Inference } from "../src/contract/call.ts";
import { answerQuestions } from "../src/decisions/answers.ts";
import { type AskedQuestion, readSystemone } from "../src/decisions/systemone.ts";
import { commonMembers } from "./common-members.ts";

/** Answers named questions about one state. */
export const systemone: Inference<"systemone", readonly AskedQuestion[]> = {
  async read(body, { model, signal }) {
    const { asked, ...request } = await readSystemone(body, model, { signal });
    return { texts: [request], asked };
  },
  answer: (asked, scored, model) => ({
    body: {
      answers: answerQuestions(asked, scored.scores, model.temperature),
      ...commonMembers(scored, model),
    },
  }),
};

import type { operations } from "../../generated/typesafe.ts";
import type { Inference } from "../../src/contract/call.ts";
import { answerTypesafe } from "../../src/decisions/typesafe/answers.ts";
import { readTypesafe, type TypesafeFacts } from "../../src/decisions/typesafe/request.ts";

/** Answers named questions about one state. */
export const typesafeSystemone: Inference<"typesafeSystemone", readonly TypesafeFacts[], operations> = {
  async read(body, { model, signal }) {
    const { facts, ...request } = await readTypesafe(body, model, { signal });
    return { texts: [request], facts };
  },
  answer: (facts, { scores, inputTokens }, model) => ({
    body: {
      model: model.id,
      answers: answerTypesafe(facts, scores, model.temperature),
      usage: { input_tokens: inputTokens, output_tokens: 0 },
    },
  }),
};

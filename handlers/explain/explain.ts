import type { operations } from "../../generated/explain.ts";
import type { Inference } from "../../src/contract/call.ts";
import { readExplained } from "../../src/decisions/explain/explained.ts";
import { askedWithout, explainAnswers, explainRanking } from "../../src/decisions/explain/influence.ts";
import { readStateParts, type StatePart } from "../../src/decisions/explain/state-parts.ts";
import type { SentCandidate } from "../../src/decisions/rank.ts";
import type { QuestionFacts } from "../../src/decisions/systemone.ts";
import { commonMembers } from "../systemone.ts";
import { readingOf } from "./reading.ts";

interface Explained {
  readonly reading: ReturnType<typeof readingOf>;
  /** Undefined for a dry run. */
  readonly parts: readonly StatePart[] | undefined;
  readonly facts: { readonly facts: readonly QuestionFacts[] } | { readonly sent: readonly SentCandidate[] };
}

/** Explains what the model reads of a request and, unless it is a dry run, what moved its answers. */
export const explain: Inference<"explain", Explained, operations> = {
  async read(body, { model, signal, readTokens }) {
    const request = await readExplained(body, model, { signal });
    // before the scores: what is in the cache of texts now
    const reading = readingOf(request, await readTokens(request), model.limits);
    const facts = "sent" in request ? { sent: request.sent } : { facts: request.facts };
    if (body.dry_run === true) return { texts: [], facts: { reading, parts: undefined, facts } };
    const parts = await readStateParts(body.state, model.limits.maxStateQuestionTokens, { signal });
    return { texts: askedWithout(request, parts), facts: { reading, parts, facts } };
  },
  answer({ reading, parts, facts }, scored, model) {
    const { probabilities_source: _, ...members } = commonMembers(scored, model);
    if (parts === undefined) return { body: { ...reading, model: model.id, latency_ms: members.latency_ms } };
    const { scores } = scored;
    const explained =
      "sent" in facts
        ? explainRanking(facts.sent, parts, scores, model.temperature)
        : explainAnswers(facts.facts, parts, scores, model.temperature);
    return { body: { ...reading, ...explained, ...members } };
  },
};

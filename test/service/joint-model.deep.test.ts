import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { type JointDecision, type JointPackage, jointPackage, jointPackages } from "../support/gemma3.ts";
import { answerOf, close, Service } from "./service.ts";

/** Of the reference library's float32 scores. */
const TOLERANCE = 1e-4;

/** Graphs are written to a folder of their own: a user's is not to be filled with tests' models. */
let cache: string;
before(async () => {
  cache = await mkdtemp(path.join(tmpdir(), "joint-model-"));
});
after(() => rm(cache, { recursive: true }));

async function withService(
  { folder }: JointPackage,
  precision: string,
  use: (service: Service) => Promise<void>,
): Promise<void> {
  const service = await Service.start(["--model-path", folder, "--precision", precision], {
    XDG_CACHE_HOME: cache,
  });
  try {
    await use(service);
  } finally {
    assert.equal(await service.stop(), 0);
  }
}

/** The decision as a question of a request, whose candidates come out as the decision's texts. */
function bodyOf({ type, state, question, candidates, sent }: JointDecision): object {
  if (sent !== undefined) {
    const { state: sentState, ...asked } = sent;
    return { state: sentState, questions: { q: { type, ...asked } } };
  }
  if (type === "noul") return { state, questions: { q: { type, instructions: question } } };
  const criteria =
    type === "score" ? candidates : Object.fromEntries(candidates.map((text, i) => [`label ${i}`, text]));
  return { state, questions: { q: { type, instructions: question, criteria } } };
}

describe("a joint model is served over HTTP with the scores of the reference library", () => {
  for (const each of jointPackages) {
    it(each.name, async () => {
      await withService(each, "fp32", async (service) => {
        assert.equal((await service.health()).precision, each.name === "onnx-export" ? "graph" : "fp32");
        for (const decision of each.decisions) {
          const { type, state, question, candidates, token_ids, scores } = decision;
          const tokens = token_ids.reduce((sum, ids) => sum + ids.length, 0);
          if (type === "rank") {
            const { usage } = await service.rank({ state, question, candidates });
            assert.equal(usage.input_tokens, tokens);
            const came = await service.rankScores(state, question, candidates);
            for (const [i, score] of scores.entries()) close(came[i], score, TOLERANCE, `ranked ${i}`);
          }
          const asked = type === "rank" ? { ...decision, type: "choice" as const } : decision;
          const body = await service.decide(bodyOf(asked));
          assert.equal(body.usage.input_tokens, tokens);
          const came = Object.values(answerOf(body, "q").scores);
          for (const [i, score] of scores.entries()) close(came[i], score, TOLERANCE, `${type} ${i}`);
        }
      });
    });
  }

  it("all decisions on one state together, and each alone, to the last bit, from a warm state too", async () => {
    const each = jointPackage("five-to-one");
    const long = each.decisions.find(({ token_ids }) => (token_ids[0]?.length ?? 0) > 300);
    assert.ok(long !== undefined);
    const questions = Object.fromEntries(
      ["Which team?", "How urgent?", long.question].map((instructions, i) => [
        `q${i}`,
        { type: "score", instructions, criteria: long.candidates },
      ]),
    );
    await withService(each, "int8", async (service) => {
      const together = await service.decide({ state: long.state, questions });
      for (const [name, question] of Object.entries(questions)) {
        const alone = await service.decide({ state: long.state, questions: { [name]: question } });
        assert.deepEqual(answerOf(alone, name).scores, answerOf(together, name).scores);
      }
    });
  });
});

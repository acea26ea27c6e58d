import { at } from "../client/json.ts";
import { type DocumentName, misfitOf, ownContract } from "../documents.ts";
import { type Check, dialectChecks } from "../trial/check.ts";
import type { Profile } from "../trial/clause.ts";
import type { Trial } from "../trial/trial.ts";

/**
 * A check that compares every answer of the run with the document of its dialect. It runs last.
 *
 * @param ask sends a few requests, so that there are answers even if no other check ran
 */
export function documentCheck(
  profile: Profile & DocumentName,
  source: string,
  ask: (trial: Trial) => Promise<unknown>,
): readonly Check[] {
  return dialectChecks(profile, source, {
    schema: {
      clause: "Every answer, including errors, has a status and the members of the dialect's document.",
      expected: "no answer of the run with an undeclared status or a missing or mistyped member",
      needsInference: false,
      turn: "last",
      run: async (trial) => {
        await ask(trial);
        const { json: document, ...schemas } = await ownContract(profile);
        for (const reply of trial.seen) {
          const { path = "", method } = reply.request;
          const operation = ["paths", path, method.toLowerCase()];
          if (reply.json === undefined || at(document, ...operation) === undefined) continue;
          const misfit = misfitOf(document, schemas, operation, reply, true);
          trial.equal(`what does not fit in ${reply.status} to ${path}`, misfit, undefined, reply);
        }
      },
    },
  });
}

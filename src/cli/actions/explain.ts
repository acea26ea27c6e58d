import { ServiceError } from "../../errors.ts";
import type { JsonObject } from "../../json/value.ts";
import { writeJson } from "../../json/write.ts";
import { dryRun } from "../../library/index.ts";
import { checkFirst, openTarget, type Target } from "./ask.ts";

/** A request to `systemone` or to `rank`. */
export type Asked =
  | { readonly state: string; readonly questions: JsonObject }
  | { readonly state: string; readonly question: string; readonly candidates: readonly string[] };

/**
 * Explains a request.
 *
 * @param isDry true explains texts and tokens only, without the model
 * @returns the JSON text of the explanation, exactly as a service writes it
 * @throws ServiceError as `ask`; NOT_FOUND if a service has no explanations
 */
export async function explain(
  asked: Asked,
  target: Target,
  { isDry }: { readonly isDry: boolean },
): Promise<string> {
  const body = writeJson({ ...asked, ...(isDry && { dry_run: true }) });
  if ("options" in target) {
    if (isDry) return dryRun(body, target.options);
    await checkFirst("questions" in asked ? "systemone" : "rank", writeJson(asked), target);
  }
  const decider = await openTarget(target);
  try {
    return await decider.ask("explain", body);
  } catch (error) {
    if (error instanceof ServiceError && error.kind === "NOT_FOUND")
      throw new ServiceError(
        "NOT_FOUND",
        "the service has no explanations: start it with --explain, or check the URL.",
        {
          cause: error,
        },
      );
    throw error;
  } finally {
    await decider.close();
  }
}

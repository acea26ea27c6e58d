import { endWithoutOutput } from "../../../../src/cli/output/standard-output.ts";
import { ServiceError } from "../../../../src/errors.ts";
import { help } from "./flags.ts";
import { checkConformance } from "./run.ts";

/**
 * `decision conformance` as a separate program that does not include the service.
 *
 * @returns the exit code of the command; 2 for wrong usage
 */
export async function main(args: readonly string[]): Promise<number> {
  endWithoutOutput("decision-conformance");
  if (args.includes("--help")) {
    process.stdout.write(help());
    return 0;
  }
  try {
    return await checkConformance(args);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 2;
  }
}

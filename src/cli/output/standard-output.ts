import { fileFault } from "../../errors.ts";
import { plainLine } from "./plain-text.ts";

/**
 * Ends the program with exit code 1 and a sentence once its standard output cannot be written: nobody gets its results.
 * What cannot be written to standard error is lost.
 *
 * @param program name in the sentence
 */
export function endWithoutOutput(program: string): void {
  let cause: Error | null = null;
  process.stderr.on("error", () => {});
  process.stdout.on("error", (error) => {
    cause = error;
    process.exit(1);
  });
  process.on("exit", () => {
    cause ??= process.stdout.errored; // a command that ends itself does not wait for the event above
    if (cause === null) return;
    const sentence = `${program}: standard output cannot be written: ${fileFault(cause)}.`;
    process.stderr.write(`${plainLine(sentence)}\n`);
    process.exitCode ||= 1;
  });
}

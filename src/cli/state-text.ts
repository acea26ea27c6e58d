import { text } from "node:stream/consumers";

/** The state from the command line; `-` reads standard input. */
export async function stateText(given: string): Promise<string> {
  return given === "-" ? text(process.stdin) : given;
}

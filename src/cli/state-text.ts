import { text } from "node:stream/consumers";

/** The state as given on the command line; `-` stands for standard input. */
export async function stateText(given: string): Promise<string> {
  return given === "-" ? text(process.stdin) : given;
}

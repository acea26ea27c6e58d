import type { Interfaces } from "@oclif/core";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { readCommands } from "./words.ts";
import { zshScript } from "./zsh.ts";

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** The completion script for a shell. */
export function completionScript(
  shell: keyof typeof SCRIPTS,
  config: Pick<Interfaces.Config, "commands" | "topics">,
): string {
  return SCRIPTS[shell](readCommands(config));
}

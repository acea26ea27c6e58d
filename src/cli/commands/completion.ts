import { Args } from "@oclif/core";
import { BaseCommand } from "../base-command.ts";
import { completionScript } from "../output/completion.ts";

const SHELLS = ["bash", "zsh"] as const;

export default class Completion extends BaseCommand {
  static override summary = "Print a script that completes commands, flags and their values in a shell.";
  static override description =
    "bash: add `source <(decision completion bash)` to ~/.bashrc.\n" +
    "zsh: add `source <(decision completion zsh)` to ~/.zshrc, behind compinit.";
  static override examples = [
    "<%= config.bin %> completion bash > ~/.local/share/bash-completion/completions/decision",
    "<%= config.bin %> completion zsh > ~/.decision-completion.zsh",
  ];
  static override args = {
    shell: Args.string({
      required: true,
      options: [...SHELLS],
      description: "shell that will read the script",
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Completion);
    const shell = SHELLS.find((each) => each === args.shell) ?? "bash"; // oclif has checked the value
    const script = completionScript(shell, this.config);
    this.log(flags.json ? JSON.stringify({ shell, script }) : script.trimEnd());
  }
}

import { Args, loadHelpClass } from "@oclif/core";
import { BaseCommand } from "../base-command.ts";

export default class Help extends BaseCommand {
  static override summary = "Explain a command, as its --help does.";
  static override examples = ["<%= config.bin %> help decide", "<%= config.bin %> help model pull"];
  static override args = { command: Args.string({ description: "command to explain" }) };
  static override strict = false;

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(Help);
    const words = argv.map(String);
    const id = words.join(":");
    const command = this.config.findCommand(id);
    const isTopic = id === "" || this.config.findTopic(id) !== undefined;
    if (command === undefined && !isTopic) {
      await this.config.runHook("command_not_found", { id, argv: flags.json ? ["--json"] : [] });
      return;
    }
    if (flags.json) {
      const below = id === "" ? "" : `${id}:`;
      const { summary, description, examples, args, flags: its } = command ?? {};
      const commands = this.config.commands.filter((each) => each.id.startsWith(below));
      this.log(
        JSON.stringify(
          command === undefined
            ? { commands: commands.map((each) => ({ command: nameOf(each.id), summary: each.summary })) }
            : { command: nameOf(id), summary, description, examples, args, flags: its },
        ),
      );
      return;
    }
    const HelpOfOclif = await loadHelpClass(this.config);
    await new HelpOfOclif(this.config, this.config.pjson.oclif.helpOptions).showHelp(words);
  }
}

const nameOf = (id: string) => id.replaceAll(":", " ");

import { Flags } from "@oclif/core";
import type { Location } from "../../errors.ts";
import { ASK_FLAGS } from "../ask-flags.ts";
import { BaseCommand } from "../base-command.ts";
import { showRanking } from "../output/show.ts";
import { stateText } from "../state-text.ts";

export default class Rank extends BaseCommand {
  static override summary = "Rank candidates for a state, without a server.";
  static override examples = [
    "<%= config.bin %> rank --state 'The printer reports a paper jam' --question 'Which reply helps most?' --candidate 'Open tray 2' --candidate 'Buy ink'",
  ];
  static override flags = {
    ...ASK_FLAGS,
    question: Flags.string({
      default: "",
      helpValue: "<text>",
      description: "what the candidates are ranked by",
    }),
    candidate: Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      required: true,
      helpValue: "<text>",
      description: "a candidate; repeatable",
    }),
  };

  protected override nameOf(place: Location): string {
    const [part, ...label] = place;
    if (part === "candidates") return ["--candidate", ...label].join(" ");
    return part === "state" || part === "question" ? `--${part}` : super.nameOf(place);
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Rank);
    const options = await this.options(flags);
    const { askRank } = await import("../actions/ask.ts");
    const state = await stateText(flags.state);
    const body = { state, question: flags.question, candidates: flags.candidate };
    const answer = await askRank(body, options);
    this.log(flags.json ? answer.text : showRanking(answer.body));
  }
}

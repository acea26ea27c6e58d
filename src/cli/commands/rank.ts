import { Flags } from "@oclif/core";
import type { Location } from "../../errors.ts";
import { BaseCommand } from "../base-command.ts";
import { showRanking } from "../output/show.ts";
import { givenState } from "../state-text.ts";
import { ASK_FLAGS, ask, CANDIDATE, targetOf } from "../target.ts";

export default class Rank extends BaseCommand {
  static override summary = "Rank candidate texts for a text, with or without a running service.";
  static override description =
    "Loading the model takes seconds at each call. To avoid this, use a running service: set --url or DECISION_URL.";
  static override examples = [
    "<%= config.bin %> rank --state 'The printer reports a paper jam' --question 'Which reply helps most?' --candidate 'Open tray 2' --candidate 'Buy ink'",
    "<%= config.bin %> rank --state - --candidate 'Billing' --candidate 'Technical support' --url http://127.0.0.1:8700 --json < message.txt",
  ];
  static override flags = {
    ...ASK_FLAGS,
    question: Flags.string({
      default: "",
      helpValue: "<text>",
      description: "question by which the candidates are ranked",
    }),
    candidate: Flags.string({ ...CANDIDATE, required: true, description: "a candidate; repeatable" }),
  };

  #stateFlag = "--state";

  protected override nameOf(place: Location): string {
    const [part, ...label] = place;
    if (part === "candidates") return ["--candidate", ...label].join(" ");
    if (part === "state") return this.#stateFlag;
    return part === "question" ? "--question" : super.nameOf(place);
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Rank);
    const target = await targetOf(flags, () => this.options(flags));
    this.#stateFlag = flags["state-file"] === undefined ? "--state" : "--state-file";
    const body = { state: await givenState(flags), question: flags.question, candidates: flags.candidate };
    const text = await ask("rank", body, target);
    this.log(flags.json ? text : showRanking(JSON.parse(text)));
  }
}

import { Flags } from "@oclif/core";
import type { BenchOptions, Part } from "../../../bench/options.ts";
import { OPTION_TABLE, type OptionName } from "../../options/table.ts";
import { BaseCommand } from "../base-command.ts";
import { optionFlags } from "../option-flags.ts";

/** Options of a service that change nothing that is measured, or that the bench sets itself. */
const LEFT_OUT: readonly string[] = ["host", "port", "allowUnauthenticated", "alias", "logLevel", "offline"];
// every name of the table but those
const SERVICE_OPTIONS = (Object.keys(OPTION_TABLE) as OptionName[]).filter(
  (name) => !LEFT_OUT.includes(name),
);

export default class Bench extends BaseCommand {
  static override summary =
    "Measure the engine and the service on this machine, beside baselines in the same run.";
  static override description =
    "Quick by default (under a minute); every measurement is bounded in time and in count.\n" +
    "Results go to stdout, progress to stderr. Exit code 0: done, 1: something failed, 2: wrong usage.";
  static override examples = ["<%= config.bin %> bench", "<%= config.bin %> bench --full --json > mine.json"];
  static override flags = {
    part: Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      options: ["engine", "http", "memory"],
      helpValue: "engine|http|memory",
      description: "what to measure; repeatable, all if left out",
    }),
    full: Flags.boolean({ description: "longer and more: takes many minutes" }),
    seed: Flags.integer({
      default: 1,
      min: 0,
      helpValue: "<number>",
      description: "of the generated requests",
    }),
    seconds: Flags.string({ helpValue: "<s>", description: "time of each measurement at most" }),
    count: Flags.integer({
      min: 1,
      helpValue: "<number>",
      description: "requests of each measurement at most",
    }),
    profile: Flags.boolean({ description: "where the model's time goes, by operator" }),
    json: Flags.boolean({ description: "print everything as JSON" }),
    ...optionFlags(SERVICE_OPTIONS),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Bench);
    const options: BenchOptions = {
      service: this.options(flags),
      parts: (flags.part ?? ["engine", "http", "memory"]) as Part[],
      isFull: flags.full,
      seed: flags.seed,
      seconds: flags.seconds === undefined ? undefined : Number(flags.seconds),
      count: flags.count,
      profile: flags.profile,
    };
    const { runBench } = await import("../bench.ts");
    await runBench(options, { isJson: flags.json }, (text) => this.log(text));
  }
}

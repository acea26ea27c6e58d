import type { Interfaces } from "@oclif/core";

/** A command or a topic, for shell completion. */
export interface CompletedCommand {
  /** As typed after the program's name: ["model", "list"]; [] for the program itself. */
  readonly path: readonly string[];
  readonly summary: string;
  /** Commands of a topic; empty for a command. */
  readonly below: readonly CompletedCommand[];
  readonly flags: readonly CompletedFlag[];
  /** Values of its first argument. Undefined: no argument. Empty: file names or anything else. */
  readonly argument: readonly string[] | undefined;
}

export interface CompletedFlag {
  /** The name with its hyphens. */
  readonly name: string;
  readonly summary: string;
  readonly takesValue: boolean;
  /** Allowed values. Empty: file names or anything else. */
  readonly values: readonly string[];
}

type Config = Pick<Interfaces.Config, "commands" | "topics">;
type Loadable = Config["commands"][number];

const HELP: CompletedFlag = { name: "--help", summary: "print the help", takesValue: false, values: [] };
const VERSION: CompletedFlag = { ...HELP, name: "--version", summary: "print the version" };

/** The program with everything below it, sorted by name. */
export function readCommands({ commands, topics }: Config): CompletedCommand {
  const shown = commands.filter(({ hidden }) => !hidden).sort((a, b) => (a.id < b.id ? -1 : 1));
  const top = shown.filter(({ id }) => !id.includes(":")).map(commandOf);
  const ofTopics = topics.flatMap(({ name, description = "" }) => {
    const below = shown.filter(({ id }) => id.startsWith(`${name}:`)).map(commandOf);
    // oclif lists each command as a topic too
    return below.length === 0
      ? []
      : [{ path: [name], summary: description, below, flags: [HELP], argument: undefined }];
  });
  const below = [...top, ...ofTopics].sort((a, b) => (String(a.path) < String(b.path) ? -1 : 1));
  return { path: [], summary: "", below, flags: [HELP, VERSION], argument: undefined };
}

function commandOf({ id, summary = "", flags, args }: Loadable): CompletedCommand {
  const [first] = Object.values(args);
  return {
    path: id.split(":"),
    summary,
    below: [],
    flags: [
      ...Object.values(flags)
        .filter(({ hidden }) => !hidden)
        .flatMap(flagsOf),
      HELP,
    ],
    argument: first === undefined ? undefined : (first.options ?? []),
  };
}

function flagsOf(flag: Loadable["flags"][string]): readonly CompletedFlag[] {
  const summary = (flag.description ?? "").split("\n")[0] ?? "";
  if (flag.type === "boolean") {
    const names = flag.allowNo ? [flag.name, `no-${flag.name}`] : [flag.name];
    return names.map((name) => ({ name: `--${name}`, summary, takesValue: false, values: [] }));
  }
  const values = flag.options ?? valuesOf(flag.helpValue);
  return [{ name: `--${flag.name}`, summary, takesValue: true, values }];
}

/** The values in a help placeholder such as `int8|fp32`. */
function valuesOf(helpValue: string | string[] | undefined): readonly string[] {
  const values = typeof helpValue === "string" ? helpValue.split("|") : [];
  return values.length > 1 && values.every((value) => /^[\w.-]+$/.test(value)) ? values : [];
}

/** Every command and topic, parents before children. */
export function allBelow(command: CompletedCommand): readonly CompletedCommand[] {
  return command.below.flatMap((each) => [each, ...allBelow(each)]);
}

/** Possible next words, without values and file names. */
export function nextWords({ path, below, flags, argument }: CompletedCommand): readonly string[] {
  const names = below.map((each) => each.path[path.length] ?? "");
  return [...names, ...(argument ?? []), ...flags.map(({ name }) => name)];
}

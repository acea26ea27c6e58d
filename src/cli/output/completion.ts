import type { Interfaces } from "@oclif/core";

type Config = Pick<Interfaces.Config, "commands" | "topics">;
type Loadable = Config["commands"][number];

/** What may follow on a command line after a command or topic. */
interface Completed {
  /** As typed after the program's name: "model list"; "" for the program itself. */
  readonly path: string;
  /** Names of flags and commands, and values of an argument. */
  readonly words: readonly string[];
  /** Whether anything else may follow, such as a file. */
  readonly isOpen: boolean;
  /** Values of the flags that take one; empty for a file or anything else. */
  readonly values: ReadonlyMap<string, readonly string[]>;
}

/**
 * A script that completes commands, flags, their values and file names, for bash 3.2 and later, and for zsh, which runs
 * completions of bash.
 */
export function completionScript(shell: "bash" | "zsh", config: Config): string {
  const completed = completedOf(config);
  const steps = completed.filter(({ path }) => path !== "").map(({ path }) => `" ${path}"`);
  return `# completion of \`decision\`, made by: decision completion ${shell}
${shell === "zsh" ? "autoload -Uz bashcompinit && bashcompinit\n" : ""}_decision() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} command="" words="" prefix="" at
  # --flag=value is three words in bash, and one in zsh
  if [[ $current == "=" ]]; then current=""; elif [[ $previous == "=" ]]; then previous=\${COMP_WORDS[COMP_CWORD - 2]}; fi
  if [[ $current == --*=* ]]; then previous=\${current%%=*} prefix=\${current%%=*}= current=\${current#*=}; fi
  for ((at = 1; at < COMP_CWORD; at++)); do
    case "$command \${COMP_WORDS[at]}" in
      " help") ;;
      ${steps.join(" | ")}) command="$command \${COMP_WORDS[at]}" ;;
      *) break ;;
    esac
  done
  case "\${command# }" in
${completed.map(caseOf).join("\n")}
  esac
  COMPREPLY=($(compgen -P "$prefix" -W "$words" -- "$current"))
}
complete -o bashdefault -o default -F _decision decision
`;
}

function caseOf({ path, words, isOpen, values }: Completed): string {
  const all = `words="${words.join(" ")}"`;
  const cases = [
    ...[...values].map(([name, given]) => `${name}) words="${given.join(" ")}" ;;`),
    // where a file may stand, suggest words only after a hyphen
    `*) ${isOpen ? `if [[ $current == -* ]]; then ${all}; fi` : all} ;;`,
  ];
  return `    "${path}")\n      case "$previous" in\n${cases.map((line) => `        ${line}`).join("\n")}\n      esac ;;`;
}

function completedOf({ commands, topics }: Config): readonly Completed[] {
  const shown = commands.filter(({ hidden }) => !hidden);
  // oclif lists each command as a topic too
  const groups = topics.filter(({ name }) => shown.some(({ id }) => id.startsWith(`${name}:`)));
  const below = (name: string) =>
    shown.filter(({ id }) => id.startsWith(`${name}:`)).map(({ id }) => id.slice(name.length + 1));
  const top = [
    ...groups.map(({ name }) => name),
    ...shown.map(({ id }) => id).filter((id) => !id.includes(":")),
  ];
  const closed = (path: string, words: readonly string[]): Completed => {
    return { path, words: [...words, "--help"], isOpen: false, values: new Map() };
  };
  return [
    closed("", [...top, "--version"]),
    ...groups.map(({ name }) => closed(name, below(name))),
    ...shown.map(commandOf),
  ];
}

function commandOf({ id, flags, args }: Loadable): Completed {
  const shown = Object.values(flags).filter(({ hidden }) => !hidden);
  const names = shown.flatMap((flag) => [
    `--${flag.name}`,
    ...(flag.type === "boolean" && flag.allowNo ? [`--no-${flag.name}`] : []),
  ]);
  const [first] = Object.values(args);
  return {
    path: id.replaceAll(":", " "),
    words: [...(first?.options ?? []), ...names, "--help"],
    isOpen: first !== undefined && first.options === undefined,
    values: new Map(
      shown.flatMap((flag) =>
        flag.type === "boolean" ? [] : [[`--${flag.name}`, flag.options ?? valuesOf(flag.helpValue)]],
      ),
    ),
  };
}

/** The values in a help placeholder such as `int8|fp32`. */
function valuesOf(helpValue: string | string[] | undefined): readonly string[] {
  const values = typeof helpValue === "string" ? helpValue.split("|") : [];
  return values.length > 1 && values.every((value) => /^[\w.-]+$/.test(value)) ? values : [];
}

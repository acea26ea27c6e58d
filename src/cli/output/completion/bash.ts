import { allBelow, type CompletedCommand, nextWords } from "./words.ts";

/** Completion for bash 3.2 and later. If no word matches, bash completes file names. */
export function bashScript(program: CompletedCommand): string {
  const commands = [program, ...allBelow(program)];
  return `# completion of \`decision\` for bash, made by: decision completion bash
_decision() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} command="" words="" at
  # --flag=value is three words
  if [[ $current == "=" ]]; then current=""; elif [[ $previous == "=" ]]; then previous=\${COMP_WORDS[COMP_CWORD - 2]}; fi
  for ((at = 1; at < COMP_CWORD; at++)); do
    case "$command \${COMP_WORDS[at]}" in
      " help") ;;
      ${allBelow(program).map(stepOf).join(" | ")}) command="\${command:+$command }\${COMP_WORDS[at]}" ;;
      *) break ;;
    esac
  done
  case "$command" in
${commands.map(caseOf).join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o bashdefault -o default -F _decision decision
`;
}

/** A command's path as the loop compares it. */
function stepOf({ path }: CompletedCommand): string {
  return `"${path.slice(0, -1).join(" ")} ${path.at(-1)}"`;
}

function caseOf(command: CompletedCommand): string {
  const { path, flags, argument } = command;
  const valued = flags.filter(({ takesValue }) => takesValue);
  const open = valued.filter(({ values }) => values.length === 0);
  const cases = [
    ...valued
      .filter(({ values }) => values.length > 0)
      .map(({ name, values }) => `${name}) words="${values.join(" ")}" ;;`),
    ...(open.length > 0 ? [`${open.map(({ name }) => name).join(" | ")}) ;;`] : []),
    // an argument may be a file: suggest flags only after a hyphen
    argument?.length === 0
      ? `*) if [[ $current == -* ]]; then words="${nextWords(command).join(" ")}"; fi ;;`
      : `*) words="${nextWords(command).join(" ")}" ;;`,
  ];
  return `    "${path.join(" ")}")
      case "$previous" in
${cases.map((line) => `        ${line}`).join("\n")}
      esac ;;`;
}

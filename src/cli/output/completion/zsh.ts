import { allBelow, type CompletedCommand, type CompletedFlag } from "./words.ts";

/** Completion for zsh, to be sourced after compinit or stored as `_decision` in a folder of fpath. */
export function zshScript(program: CompletedCommand): string {
  const groups = [program, ...allBelow(program)].filter(({ below }) => below.length > 0);
  return `#compdef decision
# completion of \`decision\` for zsh, made by: decision completion zsh
${groups.map(functionOf).join("\n")}
if [[ $funcstack[1] == _decision ]]; then _decision "$@"; else compdef _decision decision; fi
`;
}

function functionOf({ path, below, flags }: CompletedCommand): string {
  const depth = path.length;
  const described = below.map((each) => quoted(`${each.path[depth]}:${each.summary.replaceAll(":", "\\:")}`));
  return `${nameOf(path)}() {
  local curcontext=$curcontext state line
  typeset -A opt_args
  _arguments -C ${flags.map(specOf).join(" ")} '1: :->command' '*:: :->rest'
  case $state in
    command)
      local -a commands=(${described.join(" ")})
      _describe command commands ;;
    rest)
      case $words[1] in
${below.map((each) => `        ${each.path[depth]}) ${callOf(each)} ;;`).join("\n")}
      esac ;;
  esac
}`;
}

function callOf({ path, below, flags, argument }: CompletedCommand): string {
  if (below.length > 0) return nameOf(path);
  if (path[0] === "help") return "_decision";
  const files = argument?.length === 0 ? "_files" : `(${(argument ?? []).join(" ")})`;
  const rest = argument === undefined ? [] : [quoted(`*:argument:${files}`)];
  return ["_arguments", ...flags.map(specOf), ...rest].join(" ");
}

/** @see zshcompsys(1), _arguments. A leading star: the flag may be repeated. */
function specOf({ name, summary, takesValue, values }: CompletedFlag): string {
  const said = summary.replaceAll(/[\\[\]]/g, "\\$&");
  const action = values.length > 0 ? `(${values.join(" ")})` : "_files";
  return quoted(takesValue ? `*${name}=[${said}]:value:${action}` : `${name}[${said}]`);
}

const nameOf = (path: readonly string[]) => ["_decision", ...path].join("_");
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

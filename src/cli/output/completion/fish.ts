import { allBelow, type CompletedCommand, type CompletedFlag } from "./words.ts";

/** Completion for fish 3.0 and later. */
export function fishScript(program: CompletedCommand): string {
  return `# completion of \`decision\` for fish, made by: decision completion fish
# whether the words so far begin with this command; with --end: whether they are this command
function __decision_in
    set -l words (commandline -opc)
    set -e words[1]
    test "$words[1]" = help; and set -e words[1]
    for name in (string match -v -- --end $argv)
        test "$words[1]" = $name; or return 1
        set -e words[1]
    end
    contains -- --end $argv; or return 0
    test (count $words) -eq 0
end
complete -c decision -n '__decision_in --end' -f
${[program, ...allBelow(program)].flatMap(linesOf).join("\n")}
`;
}

function linesOf({ path, below, flags, argument }: CompletedCommand): readonly string[] {
  const depth = path.length;
  const isHere = quoted(["__decision_in", ...path].join(" "));
  const isAtEnd = quoted(["__decision_in --end", ...path].join(" "));
  const isClosed = depth > 0 && argument?.length !== 0; // no file names
  return [
    ...(isClosed ? [`complete -c decision -n ${isHere} -f`] : []),
    ...below.map((each) =>
      ["complete -c decision -n", isAtEnd, "-a", each.path[depth], "-d", quoted(each.summary)].join(" "),
    ),
    ...(argument ?? []).map((value) => `complete -c decision -n ${isHere} -a ${value}`),
    ...flags.map((flag) => flagLine(depth === 0 ? isAtEnd : isHere, flag)),
  ];
}

function flagLine(condition: string, { name, summary, takesValue, values }: CompletedFlag): string {
  const value = !takesValue ? "" : values.length > 0 ? ` -x -a ${quoted(values.join(" "))}` : " -r -F";
  return `complete -c decision -n ${condition} -l ${name.slice(2)}${value} -d ${quoted(summary)}`;
}

const quoted = (text: string) => `'${text.replaceAll(/[\\']/g, "\\$&")}'`;

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { type Command, Config, Flags, type Interfaces, Parser } from "@oclif/core";
import { packageRoot } from "../support/package-root.ts";

const config = await Config.load(path.join(packageRoot, "package.json"));
const commands = new Map<string, Command.Class>();
for (const command of config.commands) commands.set(command.id, await command.load());
const IDS = [...commands.keys()];

interface Line {
  readonly id: string;
  readonly args: readonly string[];
}

/** The calls of `decision` in an example, without quotes, redirections and what follows these. */
function linesOf(example: string): readonly Line[] {
  const words = [...example.matchAll(/(?:[^\s'|&<>]|'[^']*')+|[|&<>]+/g)].map(([word]) =>
    word.replaceAll("'", ""),
  );
  const starts = words.flatMap((word, at) => (word === "decision" ? [at + 1] : []));
  return starts.map((start) => {
    const end = words.findIndex((word, at) => at >= start && /^[|&<>]/.test(word));
    const own = words.slice(start, end < 0 ? words.length : end);
    const id = IDS.find((each) => own.slice(0, each.split(":").length).join(":") === each);
    assert.ok(id !== undefined, `no command: ${own.join(" ")}`);
    return { id, args: own.slice(id.split(":").length) };
  });
}

for (const [id, Command] of commands) {
  describe(`decision ${id.replaceAll(":", " ")}`, () => {
    const examples = [Command.examples ?? []]
      .flat()
      .map((example) => String(example).replaceAll("<%= config.bin %>", "decision"));

    for (const example of examples)
      it(`takes the flags of: ${example}`, async () => {
        for (const line of linesOf(example)) await parse(line);
      });
  });
}

/** @throws oclif's error for unknown flags */
async function parse({ id, args }: Line): Promise<void> {
  const Named = commands.get(id);
  assert.ok(Named);
  await Parser.parse([...args], {
    flags: { ...Named.baseFlags, ...Named.flags },
    args: Named.args,
    strict: Named.strict,
  });
}

/** The lines of a page's shell blocks that call `decision`, without comments behind them. */
function shellLines(text: string): readonly string[] {
  const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => block);
  const lines = blocks.flatMap((block) => block.replaceAll("\\\n", " ").split("\n"));
  return lines
    .filter((line) => /^(\S+=\S+ )*(npx )?decision [a-z]/.test(line))
    .map((line) => line.replace(/\s# .*$/, ""));
}

/** Words after `decision` within sentences. They may be incomplete calls, with placeholders such as `<` or `...`. */
function mentions(text: string): readonly (readonly string[])[] {
  return [...text.matchAll(/`(?:npx )?decision ([a-z][^`]*)`/g)]
    .map(([, words = ""]) => words.split(/\s+/))
    .filter((words) => !words.some((word) => /[<|]|\.\.\./.test(word)));
}

const TOPICS = new Set(IDS.filter((id) => id.includes(":")).map((id) => id.split(":")[0]));

/** The first mentioned command or flag that does not exist; undefined if all exist. */
function faultOf(words: readonly string[]): string | undefined {
  const id = IDS.find((each) => words.slice(0, each.split(":").length).join(":") === each);
  if (id === undefined) return TOPICS.has(words[0]) ? undefined : `no command ${words[0]}`;
  const { baseFlags, flags } = commands.get(id) ?? {};
  const known: Interfaces.FlagInput = { ...baseFlags, ...flags, help: Flags.help() };
  for (const [at, word] of words.entries()) {
    const [, no = "", name = ""] = /^--(no-)?([\w-]+)/.exec(word) ?? [];
    const flag = known[name] ?? known[no + name];
    if (name !== "" && flag === undefined) return `no flag ${word}`;
    const value = words[at + 1] ?? "";
    const options = flag?.type === "option" ? flag.options : undefined;
    if (options && value !== "" && !options.includes(value)) return `${word} takes no ${value}`;
  }
  return undefined;
}

describe("pages", () => {
  const pages = [
    "README.md",
    "CHANGELOG.md",
    "clients/README.md",
    ...readdirSync(path.join(packageRoot, "docs"))
      .filter((name) => name.endsWith(".md"))
      .map((name) => `docs/${name}`),
  ];

  for (const name of pages) {
    const text = readFileSync(path.join(packageRoot, name), "utf8");
    const lines = shellLines(text);
    if (lines.length > 0)
      it(`show commands with flags that they have: ${name}`, async () => {
        for (const line of lines)
          for (const each of linesOf(line)) await assert.doesNotReject(parse(each), line);
      });
    it(`mention only commands and flags that there are: ${name}`, () => {
      for (const words of mentions(text)) assert.equal(faultOf(words), undefined, words.join(" "));
    });
  }
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Parser } from "@oclif/core";
import commands from "../../src/cli/commands.ts";

const IDS = Object.keys(commands);

interface Line {
  readonly id: keyof typeof commands;
  readonly args: readonly string[];
}

/** The calls of `decision` in an example. Quotes are taken off; a redirection and what follows it is none of their words. */
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
    return { id: id as keyof typeof commands, args: own.slice(id.split(":").length) };
  });
}

for (const [id, Command] of Object.entries(commands)) {
  describe(`decision ${id.replaceAll(":", " ")}`, () => {
    const examples = [Command.examples ?? []]
      .flat()
      .map((example) => String(example).replaceAll("<%= config.bin %>", "decision"));

    it("has at least two examples", () => {
      const own = examples.filter((example) => linesOf(example).some((line) => line.id === id));
      assert.ok(own.length >= 2, examples.join("\n"));
    });

    for (const example of examples)
      it(`takes the flags of: ${example}`, async () => {
        for (const { id, args } of linesOf(example)) {
          const Named = commands[id];
          await Parser.parse([...args], {
            flags: { ...Named.baseFlags, ...Named.flags },
            args: Named.args,
            strict: Named.strict,
          });
        }
      });
  });
}

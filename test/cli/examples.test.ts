import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Parser } from "@oclif/core";
import commands from "../../src/cli/commands.ts";

/** Words of a command line: quotes are taken off, a redirection and what follows it ends them. */
function wordsOf(line: string): readonly string[] {
  const words = [...line.matchAll(/(?:[^\s'|&<>]|'[^']*')+|[|&<>]+/g)].map(([word]) =>
    word.replaceAll("'", ""),
  );
  const end = words.findIndex((word) => /^[|&<>]/.test(word));
  return end < 0 ? words : words.slice(0, end);
}

for (const [id, Command] of Object.entries(commands)) {
  const name = `decision ${id.replaceAll(":", " ")}`;
  describe(name, () => {
    const examples = [Command.examples ?? []]
      .flat()
      .map((example) => String(example).replaceAll("<%= config.bin %>", "decision"));

    it("has two examples, each of this command", () => {
      assert.ok(examples.length >= 2);
      for (const example of examples)
        assert.ok(example.includes(`${name} `) || example.endsWith(name), example);
    });

    for (const example of examples)
      it(`takes the flags of: ${example}`, async () => {
        const own = wordsOf(example.slice(example.indexOf(name) + name.length));
        await Parser.parse([...own], {
          flags: { ...Command.baseFlags, ...Command.flags },
          args: Command.args,
          strict: Command.strict,
        });
      });
  });
}

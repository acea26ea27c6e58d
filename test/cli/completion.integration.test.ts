import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, it } from "node:test";
import { Config } from "@oclif/core";
import { completionScript } from "../../src/cli/output/completion.ts";
import { packageRoot } from "../support/package-root.ts";
import { until } from "../support/processes.ts";
import { decision } from "./decision.ts";

const config = await Config.load(path.join(packageRoot, "package.json"));
const folder = mkdtempSync(path.join(tmpdir(), "completion-"));
after(() => rmSync(folder, { recursive: true }));

const has = (program: string) => spawnSync(program, ["--version"]).status === 0;

/** Words so far, the last one unfinished; what must be offered, and what must not. */
const CASES: readonly { line: string; offers: readonly string[]; withholds?: readonly string[] }[] = [
  { line: "ser", offers: ["serve"], withholds: ["decide"] },
  { line: "model ", offers: ["list", "pull", "verify"], withholds: ["serve"] },
  { line: "model pu", offers: ["pull"], withholds: ["list"] },
  { line: "serve --por", offers: ["--port"], withholds: ["--host"] },
  { line: "serve --precision ", offers: ["auto", "int8", "fp32"], withholds: ["--port"] },
  { line: "serve --port 1 --no-str", offers: ["--no-strict"] },
  { line: "batch --input-format js", offers: ["jsonl"], withholds: ["csv"] },
  { line: "completion ", offers: ["bash", "zsh"] },
  { line: "help mod", offers: ["model"] },
];

describe("decision completion", () => {
  it("prints the script of a shell", () => {
    const { status, stdout } = decision(["completion", "bash"]);
    assert.deepEqual([status, stdout], [0, completionScript("bash", config)]);
    assert.equal(decision(["completion", "tcsh"]).status, 2);
  });

  it("completes in bash", () => {
    const file = path.join(folder, "decision.bash");
    const asked = CASES.map(({ line }) => {
      const words = ["decision", ...line.split(" ")].map((word) => `'${word}'`);
      return `COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; _decision; echo "\${COMPREPLY[@]}"`;
    });
    const value = "COMP_WORDS=(decision serve --precision = in); COMP_CWORD=4; _decision; echo $COMPREPLY";
    writeFileSync(file, completionScript("bash", config));
    const script = [`source ${file}`, "complete -p decision", ...asked, value].join("\n");
    const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", script], { encoding: "utf8" });
    assert.equal(stderr, "");
    const [registered = "", ...offered] = stdout.trimEnd().split("\n");
    assert.match(registered, /-F _decision decision$/);
    assert.equal(offered.pop(), "int8");
    for (const [at, { line, offers, withholds = [] }] of CASES.entries())
      check(line, offered[at]?.split(" ") ?? [], offers, withholds);
  });

  it("completes in zsh", { skip: has("zsh") && has("script") ? false : "zsh is not installed" }, async () => {
    const file = path.join(folder, "decision.zsh");
    writeFileSync(file, completionScript("zsh", config));
    const shell = spawn("script", ["-qfec", "zsh -f -i", "/dev/null"], {
      env: { ...process.env, TERM: "dumb", HOME: folder },
    });
    let shown = "";
    shell.stdout.on("data", (chunk) => {
      shown += chunk;
    });
    const send = async (typed: string, answer: RegExp) => {
      shown = "";
      shell.stdin.write(typed);
      await until(() => answer.test(shown), `zsh shows ${answer}`);
    };
    try {
      await send(
        `autoload -Uz compinit; compinit -u -D; source ${file}; setopt no_beep; echo rea''dy\n`,
        /ready/,
      );
      await send("decision ser\t", /decision serve /);
      await send("--precision=int\t", /int8/);
      await send("\u0015decision model pu\t", /model pull /);
      await send("\u0015decision model \t\t", /verify/);
    } finally {
      shell.kill("SIGKILL");
    }
  });
});

function check(
  line: string,
  offered: readonly string[],
  offers: readonly string[],
  withholds: readonly string[],
) {
  for (const word of offers) assert.ok(offered.includes(word), `decision ${line} offers ${offered}`);
  for (const word of withholds) assert.ok(!offered.includes(word), `decision ${line} offers ${word}`);
}

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { likely } from "../../src/cli/likely.ts";
import { unknownVariables } from "../../src/cli/unknown-variables.ts";
import { decision } from "./decision.ts";
import { inProcess } from "./in-process.ts";

describe("a mistyped name", () => {
  for (const { given, want } of [
    { given: "serv", want: "serve" },
    { given: "modle list", want: "model list" },
    { given: "comp", want: "completion" },
    { given: "xyzzy", want: undefined },
    { given: "", want: undefined },
  ])
    it(`is taken for the likely one, if there is one: ${given}`, () =>
      assert.equal(likely(given, ["decide", "serve", "model", "model list", "completion"]), want));

  it("of a command ends with 2 and names the likely one, also as JSON", () => {
    const { status, stdout, stderr } = decision(["serv", "--json"]);
    assert.equal(status, 2);
    assert.match(
      stderr,
      /^decision: there is no command "serv"; did you mean serve\?\n.* decision --help\n$/,
    );
    const { error } = JSON.parse(stdout);
    assert.deepEqual(
      [error.code, error.message],
      ["INVALID_OPTION", 'there is no command "serv"; did you mean serve?'],
    );
  });

  it("of a flag names the likely one", async () => {
    const { status, stderr } = await inProcess(["serve", "--prot", "1"]);
    assert.equal(status, 2);
    assert.match(stderr, /Nonexistent flag: --prot; did you mean --port\?/);
  });

  it("of a variable is a warning, since another program may read it", async () => {
    const { status, stderr } = await inProcess(["config"], { env: { DECISION_PROT: "1" } });
    assert.equal(status, 0);
    assert.equal(
      stderr,
      "decision config: warning: the variable DECISION_PROT is unknown and ignored; did you mean DECISION_PORT?\n",
    );
  });

  it("of a variable is absent if the variable is known, empty or set by Kubernetes", async () => {
    const env = {
      DECISION_URL: "",
      DECISION_SERVICE_PORT_HTTP: "1",
      DECISION_PORT_8700_TCP_ADDR: "x",
      DECISION_CANARY_SERVICE_HOST: "10.0.0.1",
      DECISION_CANARY_PORT: "tcp://10.0.0.1:8700",
      DECISION_CANARY_PORT_8700_TCP: "tcp://10.0.0.1:8700",
      PORT: "1",
    };
    assert.deepEqual(await unknownVariables(env), []);
    assert.equal(
      (await unknownVariables({ DECISION_XYZZY: "1" }))[0],
      "warning: the variable DECISION_XYZZY is unknown and ignored.",
    );
  });
});

describe("decision help", () => {
  it("explains a command as its --help does", () => {
    const { status, stdout } = decision(["help", "model", "pull"]);
    assert.equal(status, 0);
    assert.equal(stdout, decision(["model", "pull", "--help"]).stdout);
  });

  it("as JSON has the flags of a command, and the commands of a topic", async () => {
    const one = JSON.parse((await inProcess(["help", "model", "pull", "--json"])).stdout);
    const flags = ["json", "offline", "file", "labels", "hypothesis"];
    assert.deepEqual([one.command, Object.keys(one.flags)], ["model pull", flags]);
    const topic = JSON.parse((await inProcess(["help", "keys", "--json"])).stdout);
    assert.deepEqual(
      topic.commands.map(({ command }: { command: string }) => command),
      ["keys add", "keys list", "keys revoke"],
    );
  });

  it("of an unknown command names the likely one", async () => {
    const { status, stderr } = await inProcess(["help", "decid"]);
    assert.equal(status, 2);
    assert.match(stderr, /no command "decid"; did you mean decide\?/);
  });
});

describe("--json", () => {
  it("makes errors JSON too, with their code, beside the lines for people", async () => {
    for (const [args, code, says] of [
      [["decide", "--state", "x", "--question", "?", "--choice", "a"], "INVALID_REQUEST", /at least 2/],
      [["serve", "--prot", "1"], "INVALID_OPTION", /did you mean --port/],
      [["keys", "add"], "INVALID_OPTION", /Missing 1 required arg/],
      [["model", "show", "nothing"], "INVALID_OPTION", /nothing/],
      [
        ["batch", "--questions", "none", "--input", "x.jsonl", "--output", "out.jsonl"],
        "INVALID_OPTION",
        /cannot be read/,
      ],
    ] as const) {
      const [command, ...rest] =
        args[0] === "keys" || args[0] === "model" ? [`${args[0]}:${args[1]}`, ...args.slice(2)] : args;
      const { status, stdout, stderr } = await inProcess([command ?? "", ...rest, "--json"]);
      assert.equal(status, 2, stderr);
      const { error } = JSON.parse(stdout);
      assert.equal(error.code, code);
      assert.match(JSON.stringify(error), says);
      assert.match(stderr, says);
    }
  });
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { OPTION_TABLE } from "../../src/options/table.ts";
import { decision } from "./decision.ts";
import { inProcess } from "./in-process.ts";

describe("wrong usage ends with exit code 2 and says what was expected", () => {
  const cases: { name: string; args: string[]; env?: Record<string, string>; says: RegExp }[] = [
    {
      name: "a number below its bound",
      args: ["serve", "--queue-size", "0"],
      says: /--queue-size .*1 to 8192.*"0"/,
    },
    {
      name: "a number above its bound",
      args: ["serve", "--port", "65536"],
      says: /--port .*0 to 65535.*"65536"/,
    },
    { name: "a number that is none", args: ["serve", "--deadline-ms", "1e3"], says: /--deadline-ms .*"1e3"/ },
    {
      name: "a variable out of bounds",
      args: ["serve"],
      env: { DECISION_PORT: "-1" },
      says: /DECISION_PORT .*"-1"/,
    },
    {
      name: "a switch variable that is neither",
      args: ["serve"],
      env: { DECISION_STRICT: "maybe" },
      says: /true or false/,
    },
    {
      name: "a backend that comes later",
      args: ["serve", "--backend", "remote"],
      says: /remote is not supported yet; it takes onnx or native/,
    },
    {
      name: "a backend that nobody knows",
      args: ["serve", "--backend", "x"],
      says: /--backend takes onnx or native, not "x"/,
    },
    {
      name: "an unknown log level",
      args: ["serve", "--log-level", "loud"],
      says: /silent, error, warn, info or debug, not "loud"/,
    },
    {
      name: "an unknown precision",
      args: ["serve", "--precision", "int4"],
      says: /--precision takes auto, int8, fp32, bf16 or fp16, not "int4"/,
    },
    {
      name: "a device that the backend does not take",
      args: ["serve", "--device", "cuda:1"],
      says: /--device cuda:1 is not for the backend onnx, which takes cpu, cuda, coreml, webgpu, auto; native takes it/,
    },
    {
      name: "a precision that the backend does not take",
      args: ["decide", "--state", "x", "--question", "y", "--backend", "native", "--precision", "int8"],
      says: /--precision int8 is not for the backend native, which takes auto, fp32, bf16, fp16; onnx takes it/,
    },
    { name: "an unknown flag", args: ["serve", "--nope"], says: /--nope/ },
    { name: "a flag without its value", args: ["serve", "--port"], says: /--port/ },
    { name: "another host without a key", args: ["serve", "--host", "0.0.0.0"], says: /DECISION_API_KEY/ },
    {
      name: "a key that no header can carry",
      args: ["serve"],
      env: { DECISION_API_KEY: "a\tb" },
      says: /DECISION_API_KEY/,
    },
    { name: "no question", args: ["decide", "--state", "x"], says: /question/ },
    {
      name: "choices beside levels",
      args: ["decide", "--state", "x", "--question", "y", "--choice", "a", "--level", "b"],
      says: /--choice/,
    },
    {
      name: "a choice given twice",
      args: ["decide", "--state", "x", "--question", "y", "--choice", "a", "--choice", "a"],
      says: /--choice/,
    },
    {
      name: "one choice",
      args: ["decide", "--state", "x", "--question", "y", "--choice", "a"],
      says: /--choice: Expected at least 2/,
    },
    {
      name: "a blank level",
      args: ["decide", "--state", "x", "--question", "y", "--level", " ", "--level", "b"],
      says: /--level 0: /,
    },
    {
      name: "a blank state and question",
      args: ["decide", "--state", "", "--question", " ", "--choice", "a", "--choice", "b"],
      says: /--(state|question): /,
    },
    {
      name: "equal candidates",
      args: ["rank", "--state", "x", "--candidate", "a", "--candidate", "a"],
      says: /--candidate 1: .*differ/,
    },
  ];
  for (const { name, args, env = {}, says } of cases) {
    it(name, async () => {
      const { status, stdout, stderr } = await inProcess(args, { env });
      assert.equal(status, 2, stderr);
      assert.match(stderr, says);
      assert.equal(stdout, "");
      assert.ok(stderr.split("\n").length <= 5, stderr);
    });
  }
});

it("wrong usage ends a program the same way", () => {
  for (const [args, says] of [
    [["nope"], /no command "nope"/],
    [["serve", "--port", "65536"], /--port .*0 to 65535.*"65536"/],
  ] as const) {
    const { status, stdout, stderr } = decision(args);
    assert.deepEqual([status, stdout], [2, ""], stderr);
    assert.match(stderr, says);
  }
});

it("a model folder that is none ends with exit code 1", () => {
  const { status, stderr } = decision(["serve", "--model-path", "/nonexistent"]);
  assert.equal(status, 1);
  assert.match(stderr, /manifest\.json/);
});

it("--help names every option with its variable and default", () => {
  const { status, stdout } = decision(["serve", "--help"]);
  assert.equal(status, 0);
  for (const row of Object.values(OPTION_TABLE)) {
    assert.ok(stdout.includes(row.kind === "switch" ? `--[no-]${row.flag}` : `--${row.flag}`), row.flag);
    assert.ok(stdout.includes(row.env), row.env);
  }
});

it("--help and wrong usage load neither the native runtime nor the web server", () => {
  // NODE_DEBUG lists each CommonJS module as it is loaded
  const { stderr } = decision(["serve", "--help"], { env: { NODE_DEBUG: "module" } });
  assert.match(stderr, /@oclif/);
  assert.doesNotMatch(stderr, /node_modules\/(onnxruntime-node|tokenizers|fastify|openapi-backend)\//);
});

import assert from "node:assert/strict";
import path from "node:path";
import { describe, it } from "node:test";
import { OPTION_TABLE } from "../../src/options/table.ts";
import { packageRoot } from "../support/package-root.ts";
import { decision } from "./decision.ts";
import { inProcess } from "./in-process.ts";

const REMOTE = ["serve", "--backend", "remote", "--remote-url", "http://127.0.0.1:9"];

describe("wrong usage ends with exit code 2 and says what was expected", () => {
  const cases: { name: string; args: string[]; env?: Record<string, string>; says: RegExp }[] = [
    {
      name: "a number below its bound",
      args: ["serve", "--queue-size", "0"],
      says: /--queue-size: .*1 to 8192.*"0"/,
    },
    {
      name: "a number above its bound",
      args: ["serve", "--port", "65536"],
      says: /--port: .*0 to 65535.*"65536"/,
    },
    {
      name: "a number that is none",
      args: ["serve", "--deadline-ms", "1e3"],
      says: /--deadline-ms: .*"1e3"/,
    },
    {
      name: "a variable out of bounds",
      args: ["serve"],
      env: { DECISION_PORT: "-1" },
      says: /DECISION_PORT: .*"-1"/,
    },
    {
      name: "a switch variable that is neither",
      args: ["serve"],
      env: { DECISION_STRICT: "maybe" },
      says: /true or false/,
    },
    {
      name: "a backend that nobody knows",
      args: ["serve", "--backend", "x"],
      says: /--backend: expected onnx, native or remote, got "x"/,
    },
    {
      name: "an unknown log level",
      args: ["serve", "--log-level", "loud"],
      says: /silent, error, warn, info or debug, got "loud"/,
    },
    {
      name: "an unknown precision",
      args: ["serve", "--precision", "int4"],
      says: /--precision: expected auto, int8, fp32, bf16 or fp16, got "int4"/,
    },
    {
      name: "a device that the backend does not take",
      args: ["serve", "--device", "cuda:1"],
      says: /--device cuda:1 is not for the backend onnx, which takes cpu, cuda, coreml, webgpu, auto; native takes it/,
    },
    {
      name: "a precision that the backend does not take",
      args: ["decide", "--state", "x", "--question", "y", "--backend", "native", "--precision", "int8"],
      says: /--precision int8 is not for the backend native, which takes auto, fp32, bf16, fp16; onnx or remote takes it/,
    },
    {
      name: "a server without its address",
      args: ["serve", "--backend", "remote"],
      says: /--backend remote needs --remote-url: the http or https address/,
    },
    ...["127.0.0.1:8000", "ftp://127.0.0.1", "http://name:word@127.0.0.1", "http://127.0.0.1/?a=b"].map(
      (url) => ({
        name: `the server ${url}`,
        args: [...REMOTE.slice(0, -1), url],
        says: /needs --remote-url: the http or https address of a server without name, password and query/,
      }),
    ),
    {
      name: "a server for another backend",
      args: ["serve", "--remote-url", "http://127.0.0.1:9"],
      says: /--remote-url is for the backend remote, not onnx: pass --backend remote/,
    },
    {
      name: "another host where none is wanted",
      args: [...REMOTE.slice(0, -1), "https://engines.example", "--offline"],
      says: /--remote-url names another host, which --offline forbids/,
    },
    {
      name: "a device of another server",
      args: [...REMOTE, "--device", "cuda"],
      says: /--device cuda is not for the backend remote, which takes cpu/,
    },
    {
      name: "no name of a model",
      args: [...REMOTE, "--remote-model", ""],
      says: /--remote-model: expected a text of at least one character/,
    },
    {
      name: "no connections",
      args: [...REMOTE, "--remote-connections", "0"],
      says: /--remote-connections: expected a whole number from 1 to 256 connections, got "0"/,
    },
    {
      name: "no time for a forward",
      args: [...REMOTE, "--remote-timeout-ms", "0"],
      says: /--remote-timeout-ms: expected a whole number from 1 to 3600000 ms, got "0"/,
    },
    {
      name: "a time for connecting that is no number",
      args: [...REMOTE, "--remote-connect-timeout-ms", "5s"],
      says: /--remote-connect-timeout-ms: expected a whole number from 1 to 600000 ms, got "5s"/,
    },
    {
      name: "certificates that are not there",
      args: [...REMOTE, "--remote-ca", "/nowhere/ca.pem"],
      says: /--remote-ca: the file cannot be read: there is no such file \(ENOENT\)/,
    },
    {
      name: "certificates that are none",
      args: [...REMOTE, "--remote-ca", path.join(packageRoot, "README.md")],
      says: /--remote-ca: expected a file of certificates in PEM/,
    },
    {
      name: "a token that is not there",
      args: [...REMOTE, "--remote-token-file", "/nowhere/token"],
      says: /--remote-token-file: the file cannot be read: there is no such file \(ENOENT\)/,
    },
    {
      name: "a token file of words",
      args: [...REMOTE, "--remote-token-file", path.join(packageRoot, "README.md")],
      says: /--remote-token-file must hold a token of visible ASCII characters without white space/,
    },
    {
      name: "a token file that is no text",
      args: [
        ...REMOTE,
        "--remote-token-file",
        path.join(packageRoot, "test/golden/gemma3/alternate/joint_head.safetensors"),
      ],
      says: /--remote-token-file: the file has bytes that are not UTF-8/,
    },
    {
      name: "a token that no header can carry",
      args: REMOTE,
      env: { DECISION_REMOTE_TOKEN: "a b" },
      says: /DECISION_REMOTE_TOKEN must hold a token of visible ASCII characters without white space/,
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
      says: /--candidate 1: Expected a text unlike all others/,
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
    [["serve", "--port", "65536"], /--port: .*0 to 65535.*"65536"/],
  ] as const) {
    const { status, stdout, stderr } = decision(args);
    assert.deepEqual([status, stdout], [2, ""], stderr);
    assert.match(stderr, says);
  }
});

it("a folder that is not a model package ends with exit code 1", () => {
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

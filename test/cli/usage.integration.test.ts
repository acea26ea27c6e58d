import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { OPTION_TABLE } from "../../src/options/table.ts";
import { packageRoot } from "../support/package-root.ts";
import { decision } from "./decision.ts";
import { inProcess } from "./in-process.ts";

describe("wrong usage ends with exit code 2 and says what was expected", () => {
  const remote = (url = "http://127.0.0.1:9") => `serve --backend remote --remote-url ${url}`;
  const ask = "decide --state x --question y";
  const isNoUrl =
    /needs --remote-url: the http or https address of a server without name, password and query/;
  const isNoToken = /must hold a token of visible ASCII characters without white space/;
  const isMissing = /the file cannot be read: there is no such file \(ENOENT\)/;
  const binary = "test/golden/gemma3/alternate/joint_head.safetensors";
  const cases: readonly (readonly [line: string, says: RegExp, env?: Record<string, string>])[] = [
    ["serve --queue-size 0", /--queue-size: .*1 to 8192.*"0"/],
    ["serve --deadline-ms 1e3", /--deadline-ms: .*"1e3"/],
    ["serve", /DECISION_PORT: .*"-1"/, { DECISION_PORT: "-1" }],
    ["serve", /true or false/, { DECISION_STRICT: "maybe" }],
    ["serve --backend x", /--backend: expected onnx, native or remote, got "x"/],
    [
      "serve --device cuda:1",
      /--device cuda:1 is not for the backend onnx, which takes cpu, cuda, coreml, webgpu, auto; native takes it/,
    ],
    [
      `${ask} --backend native --precision int8`,
      /--precision int8 is not for the backend native, which takes auto, fp32, bf16, fp16; onnx or remote takes it/,
    ],
    ["serve --backend remote", /--backend remote needs --remote-url: the http or https address/],
    [remote("127.0.0.1:8000"), isNoUrl],
    [remote("ftp://127.0.0.1"), isNoUrl],
    [remote("http://name:word@127.0.0.1"), isNoUrl],
    [remote("http://127.0.0.1/?a=b"), isNoUrl],
    [
      "serve --remote-url http://a",
      /--remote-url is for the backend remote, not onnx: pass --backend remote/,
    ],
    [`${remote("https://a.example")} --offline`, /--remote-url names another host, which --offline forbids/],
    [`${remote()} --device cuda`, /--device cuda is not for the backend remote, which takes cpu/],
    [`${remote()} --remote-model=`, /--remote-model: expected a text of at least one character/],
    [`${remote()} --remote-timeout-ms 0`, /--remote-timeout-ms: .* from 1 to 3600000 ms, got "0"/],
    [`${remote()} --remote-ca /nowhere/ca.pem`, isMissing],
    [`${remote()} --remote-ca README.md`, /--remote-ca: expected a file of certificates in PEM/],
    [`${remote()} --remote-token-file /nowhere/token`, isMissing],
    [`${remote()} --remote-token-file README.md`, isNoToken],
    [`${remote()} --remote-token-file ${binary}`, /the file has bytes that are not UTF-8/],
    [remote(), isNoToken, { DECISION_REMOTE_TOKEN: "a b" }],
    ["serve --nope", /--nope/],
    ["serve --port", /--port/],
    ["serve --host 0.0.0.0", /DECISION_API_KEY/],
    ["serve", /DECISION_API_KEY/, { DECISION_API_KEY: "a\tb" }],
    ["decide --state x", /question/],
    [`${ask} --choice a --level b`, /--choice/],
    [`${ask} --choice a --choice a`, /--choice/],
    [`${ask} --level= --level b`, /--level 0: /],
    ["decide --state= --question= --choice a --choice b", /--(state|question): /],
    ["rank --state x --candidate a --candidate a", /--candidate 1: Expected a text unlike all others/],
  ];
  for (const [line, says, env = {}] of cases) {
    it(`${line} ${Object.keys(env)}`, async () => {
      const { status, stdout, stderr } = await inProcess(line.split(" "), { env, cwd: packageRoot });
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

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, it } from "node:test";
import { Ajv } from "ajv";
import { parse } from "yaml";
import { configSchema, readConfigFile, readUnnamedFile } from "../../src/options/config-file.ts";
import { resolveOptions, resolveWithSources } from "../../src/options/resolve.ts";
import { OPTION_TABLE, type OptionRow } from "../../src/options/table.ts";

const folder = mkdtempSync(path.join(tmpdir(), "config-"));
const file = path.join(folder, "decision.yaml");
const fits = new Ajv({ allErrors: true }).compile(configSchema());

const resolve = async (text: string, flags = {}, env = {}) => {
  writeFileSync(file, text);
  return resolveWithSources(flags, env, await readConfigFile(file));
};

after(() => rmSync(folder, { recursive: true }));

describe("a configuration file", () => {
  it("comes before defaults, after variables, and these after flags", async () => {
    const text = "port: 1\nqueue-size: 2\ncache-size: 3\nstrict: true\nalias: [a, b]\nlog-level: info\n";
    const env = { DECISION_PORT: "11", DECISION_QUEUE_SIZE: "12", DECISION_HOST: "" };
    const { options, sources } = await resolve(text, { port: "21" }, env);
    const { port, queueSize, cacheSize, strict, alias, logLevel, host } = options;
    assert.deepEqual([port, queueSize, cacheSize, strict, alias], [21, 12, 3, true, ["a", "b"]]);
    assert.deepEqual([logLevel, host], ["info", "127.0.0.1"]);
    const { port: one, queueSize: two, cacheSize: three, host: four } = sources;
    assert.deepEqual([one.kind, two.kind, three.kind, four.kind], ["flag", "variable", "file", "default"]);
    assert.deepEqual([one.name, two.name], ["--port", "DECISION_QUEUE_SIZE"]);
  });

  it("may be empty", async () => {
    assert.deepEqual((await resolve("# nothing\n")).options, resolveOptions({}));
  });

  it("names a model, which a flag for another one overrides", async () => {
    const { options } = await resolve("model: a\n", { "model-path": "/b" });
    assert.deepEqual([options.model, options.modelPath], ["", "/b"]);
    await assert.rejects(
      resolve("model: a\nmodel-path: /b\n"),
      /: model and .*: model-path exclude each other/,
    );
  });

  const bad = [
    ["prot: 1", /has a member that is no option: "prot"/],
    ["port: eight", /port: expected a whole number, got a string/],
    ["port: 70000", /decision\.yaml: port: expected a whole number from 0 to 65535, got "70000"/],
    ["port: 1.5", /port: expected a whole number, got a number/],
    ["strict: 1", /strict: expected true or false, got a number/],
    ["alias: a", /alias: expected a list of texts, got a string/],
    ["alias: [a, 1]", /alias: expected a list of texts, got a list with a number/],
    ["alias: [[a]]", /alias: expected a list of texts, got a list with a list/],
    ["alias: ['']", /alias: expected a name of at least one character/],
    ["log-level: loud", /log-level: expected silent, error, warn, info or debug, got "loud"/],
    ["host: ''", /host: expected a text of at least one character/],
    ["port:", /port: expected a whole number, got null/],
    ["- port", /must hold options by their names/],
  ] as const;
  for (const [text, message] of bad) {
    it(`with ${text} is refused, by its JSON Schema too`, async () => {
      await assert.rejects(resolve(text), { kind: "INVALID_OPTION", message });
      assert.equal(fits(parse(text)), false);
    });
  }

  it("that is accepted fits the JSON Schema", () => {
    assert.ok(fits({ port: 0, strict: false, alias: ["a"], "log-level": "info", model: "twig" }));
  });

  it("that is no YAML, names a member twice or is not there is refused", async () => {
    await assert.rejects(resolve("a: [1"), /is not valid YAML/);
    await assert.rejects(resolve("port: 1\nport: 2"), /is not valid YAML/);
    await assert.rejects(
      readConfigFile(path.join(folder, "none.yaml")),
      /cannot be read: there is no such file/,
    );
  });

  it("that is not UTF-8 is refused, with its first such line", async () => {
    const reading = (bytes: Uint8Array) => {
      writeFileSync(file, bytes);
      return readConfigFile(file);
    };
    const latin = Buffer.from("port: 1\n# f\u00fcr alle\n", "latin1");
    await assert.rejects(reading(latin), /decision\.yaml has bytes that are not UTF-8 \(first in line 2\)/);
    const utf16 = Buffer.from("\ufeffport: 1\n", "utf16le");
    await assert.rejects(reading(utf16), /decision\.yaml is UTF-16: save it as UTF-8\./);
    assert.deepEqual((await reading(Buffer.from("\ufeffport: 1\n"))).values, { port: 1 });
  });
});

describe("decision.yaml that nobody has named", () => {
  /** Options that neither open the service to others nor redirect texts, secrets or trust. Decide for each new option. */
  const HARMLESS = [
    ...["port", "queue-size", "max-batch-size", "max-batch-tokens", "batch-wait-ms", "cache-size"],
    ...["state-cache-mb", "deadline-ms", "headers-timeout-ms", "max-connections", "body-memory-mb", "strict"],
    ...["offline", "backend", "device", "remote-model", "remote-connections", "remote-timeout-ms"],
    ...[
      "remote-connect-timeout-ms",
      "precision",
      "model",
      "alias",
      "metrics",
      "typesafe-alias",
      "mcp",
      "explain",
      "docs",
    ],
    ...["log-level", "log-format"],
  ];
  const allowedOf = (row: OptionRow) =>
    row.kind === "integer" ? row.max : row.kind === "switch" ? true : "x";
  const reading = (text: string) => {
    writeFileSync(file, text);
    return readUnnamedFile(folder);
  };

  for (const row of Object.values<OptionRow>(OPTION_TABLE)) {
    const value = allowedOf(row);
    const text = JSON.stringify({ [row.flag]: row.kind === "list" ? [value] : value });
    if (HARMLESS.includes(row.flag)) it(`may set ${row.flag}`, async () => assert.ok(await reading(text)));
    else
      it(`may not set ${row.flag}`, async () => {
        const message = `${file} sets ${row.flag}, which a file may set only if it is named: use --config decision.yaml if you trust it.`;
        await assert.rejects(reading(text), { kind: "INVALID_OPTION", message });
      });
  }

  it("may be missing", async () => assert.equal(await readUnnamedFile(path.join(folder, "none")), undefined));
});

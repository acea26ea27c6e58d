import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkAddresses, checkExposure, isLoopback, readApiKey } from "../../src/options/exposure.ts";
import { type RawFlags, resolveOptions } from "../../src/options/resolve.ts";
import { OPTION_TABLE } from "../../src/options/table.ts";

const invalid = (message: RegExp) => ({ name: "ServiceError", kind: "INVALID_OPTION", message });

describe("options", () => {
  it("have the defaults of the table", () => {
    const options = resolveOptions({});
    for (const [name, row] of Object.entries(OPTION_TABLE)) {
      assert.deepEqual(Reflect.get(options, name), row.default, name);
    }
  });

  it("take a flag before a variable, and a variable before the default", () => {
    const env = { DECISION_PORT: "1", DECISION_QUEUE_SIZE: "5" };
    const { port, queueSize, cacheSize } = resolveOptions({ port: "2" }, env);
    assert.deepEqual({ port, queueSize, cacheSize }, { port: 2, queueSize: 5, cacheSize: 0 });
  });

  it("take an empty variable for an unset one", () => {
    assert.equal(resolveOptions({}, { DECISION_PORT: "" }).port, 8700);
  });

  it("read switches and lists from variables", () => {
    const { strict, offline, alias } = resolveOptions(
      {},
      { DECISION_STRICT: "TRUE", DECISION_OFFLINE: "0", DECISION_ALIAS: "a, b" },
    );
    assert.deepEqual({ strict, offline, alias }, { strict: true, offline: false, alias: ["a", "b"] });
  });

  it("take a switch that is turned off before a variable that turns it on", () => {
    assert.equal(resolveOptions({ strict: false }, { DECISION_STRICT: "true" }).strict, false);
  });

  it("refuse any other text for a switch", () => {
    for (const text of ["yes", "constructor", "__proto__"]) {
      const says = invalid(/DECISION_ALLOW_UNAUTHENTICATED: expected true or false/);
      assert.throws(() => resolveOptions({}, { DECISION_ALLOW_UNAUTHENTICATED: text }), says);
    }
  });

  it("take one of the named precisions", () => {
    for (const text of ["auto", "int8", "fp32"])
      assert.equal(resolveOptions({ precision: text }).precision, text);
    const says = invalid(/DECISION_PRECISION: expected auto, int8, fp32, bf16 or fp16, got "int4"/);
    assert.throws(() => resolveOptions({}, { DECISION_PRECISION: "int4" }), says);
  });

  it("take the devices and precisions of the backend", () => {
    for (const device of ["cpu", "cuda", "cuda:3", "mps", "auto"])
      assert.equal(resolveOptions({ backend: "native", device }).device, device);
    for (const device of ["cuda:", "cuda:x", "cpu:0", "tpu"])
      assert.throws(
        () => resolveOptions({ backend: "native", device }),
        invalid(/--device: expected cpu, cuda, mps, coreml, webgpu, auto or cuda:N, got/),
      );
    const unfit = (flags: object, says: RegExp) =>
      assert.throws(() => resolveOptions({ ...flags }, { DECISION_DEVICE: "cuda" }), invalid(says));
    assert.equal(resolveOptions({}, { DECISION_DEVICE: "cuda" }).device, "cuda");
    for (const device of ["mps", "cuda:1"])
      unfit({ device }, /--device \S+ is not for the backend onnx, which takes cpu, .*; native takes it/);
    unfit(
      { backend: "native", device: "webgpu" },
      /--device webgpu is not for the backend native, .*; onnx takes it/,
    );
    unfit({ backend: "native", precision: "int8" }, /--precision int8 is not for the backend native/);
  });

  for (const [name, row] of Object.entries(OPTION_TABLE)) {
    if (row.kind !== "integer") continue;
    it(`take ${name} at its bounds and not past them`, () => {
      for (const value of [row.min, row.max]) {
        assert.equal(Reflect.get(resolveOptions({ [row.flag]: String(value) }), name), value);
      }
      for (const value of [row.min - 1, row.max + 1, "", "x", "1.5"]) {
        const says = new RegExp(`--${row.flag}: expected a whole number from ${row.min} to ${row.max}`);
        assert.throws(() => resolveOptions({ [row.flag]: String(value) }), invalid(says));
      }
    });
  }
});

describe("the rule on exposure", () => {
  for (const host of ["127.0.0.1", "127.8.9.10", "localhost", "::1"]) {
    it(`lets ${host} be served without a key`, () => {
      assert.ok(isLoopback(host));
      for (const key of [undefined, "k"]) checkExposure({ ...resolveOptions({}), host }, key);
    });
  }
  for (const host of ["0.0.0.0", "::", "192.168.1.2", "example.org", "127.0.0.1.example.org"]) {
    it(`wants a key for ${host}, or the operator's word`, () => {
      const options = { ...resolveOptions({}), host };
      assert.throws(() => checkExposure(options, undefined), invalid(/DECISION_API_KEY/));
      checkExposure(options, "k".repeat(16));
      const short = invalid(/expected a DECISION_API_KEY of at least 16 characters, got 15/);
      assert.throws(() => checkExposure(options, "k".repeat(15)), short);
      checkExposure({ ...options, allowUnauthenticated: true }, undefined);
    });
  }
});

describe("the rule on addresses", () => {
  const check = (flags: RawFlags) => () => checkAddresses(resolveOptions(flags));

  it("wants a port for metrics of their own, or none", () => {
    assert.throws(check({ port: "9464", "metrics-port": "9464" }), /--metrics-port: expected another port/);
    for (const free of [{ metrics: false }, { socket: "/run/x" }, { "metrics-port": "0" }])
      assert.doesNotThrow(check({ port: "9464", "metrics-port": "9464", ...free }));
  });

  it("takes the names of hosts", () => {
    for (const host of ["decisions.example.org", "my_box", "192.0.2.1", "2001:db8::1"])
      assert.doesNotThrow(check({ "allowed-host": [host] }), host);
    for (const host of ["https://a.example", "a.example:8700", "*", "a/b", "a.", "[::1]"])
      assert.throws(
        check({ "allowed-host": ["a.example", host] }),
        /--allowed-host: expected a host name/,
        host,
      );
  });

  it("takes origins as browsers send them", () => {
    for (const origin of ["*", "https://shop.example", "http://localhost:3000", "chrome-extension://abc"])
      assert.doesNotThrow(check({ "cors-origin": [origin] }));
    for (const origin of [
      "shop.example",
      "null",
      "mailto:a",
      "https://shop.example/",
      "https://Shop.example",
      "https://a:443",
    ])
      assert.throws(check({ "cors-origin": ["*", origin] }), /--cors-origin: expected scheme and host/);
  });
});

describe("the key", () => {
  it("is absent if the variable is missing or empty", () => {
    assert.equal(readApiKey({}), undefined);
    assert.equal(readApiKey({ DECISION_API_KEY: "" }), undefined);
  });
  for (const key of [" a", "a ", "a\nb", "\u007f"]) {
    it(`is refused as ${JSON.stringify(key)}`, () => {
      assert.throws(() => readApiKey({ DECISION_API_KEY: key }), invalid(/DECISION_API_KEY/));
    });
  }
});

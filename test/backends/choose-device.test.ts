import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { chooseDevice, onnxDevices, type Trial } from "../../src/backends/onnx/process/choose-device.ts";
import type { TrialRequest } from "../../src/backends/onnx/process/device-trial.ts";
import type { ModelPackage } from "../../src/models/package/package.ts";

/** At temperature 4, scores may differ by 0.02. */
const modelPackage = { manifest: { temperature: 4 } } as ModelPackage;
const wish = (device: string) => ({ device, modelPackage, precision: "fp32" as const, hasVectors: false });

const GOOD: Trial = { isListed: true, stderr: "" };
const NOT_LISTED: Trial = { isListed: false, stderr: "" };
const ran = (onDevice: { scores?: number[]; ms?: number }): Trial => ({
  onDevice: { scores: [1.0199, 2], ms: 20, ...onDevice },
  onCpu: { scores: [1, 2], ms: 20 },
  stderr: "",
});
const RIGHT = ran({});

/** A machine that has only the given devices. */
function machine(given: Record<string, { device?: Trial; model?: Trial }>) {
  return async ({ model, device }: TrialRequest): Promise<Trial> =>
    (model && given[device]?.model) ?? given[device]?.device ?? NOT_LISTED;
}
const unlogged = () => assert.fail("nothing is to be logged");

describe("a device that cannot be used says why", () => {
  const here = `${process.platform}/${process.arch}`;
  const cases: readonly (readonly [string, Trial, string])[] = [
    [
      "the package has no such provider",
      NOT_LISTED,
      `the installed onnxruntime-node has no WebGPU for ${here}`,
    ],
    [
      "the operator has not installed its library",
      { ...GOOD, missingLibrary: "/lib/x.so" },
      "the provider is not installed: /lib/x.so does not exist",
    ],
    [
      "the library misses another one",
      {
        isListed: true,
        error: "Failed to load shared library",
        stderr:
          "FAIL : Failed to load library /a/b.so with error: libcublas.so.12: cannot open shared object file: No such file",
      },
      "the provider's library cannot be loaded: libcublas.so.12: cannot open shared object file",
    ],
    [
      "no Vulkan",
      {
        isListed: true,
        error: "/src/a.cc:136 lambda was false. Failed to get a WebGPU adapter: No supported adapters\n",
        stderr: "Warning: Couldn't load Vulkan: libvulkan.so.1: cannot open",
      },
      "no GPU adapter was found: the Vulkan loader (libvulkan.so.1) is not installed",
    ],
    [
      "no GPU",
      { isListed: true, error: "Failed to get a WebGPU adapter: No supported adapters", stderr: "" },
      "no GPU adapter was found",
    ],
    [
      "another error, without the place in the runtime's source",
      {
        isListed: true,
        error: "/src/a.cc:1 f() x == y was false. CUDA failure 35: old driver.\nmore",
        stderr: "",
      },
      "CUDA failure 35: old driver",
    ],
    ["its process dies", { end: "its process ended (SIGSEGV)", stderr: "" }, "its process ended (SIGSEGV)"],
  ];
  for (const [name, seen, reason] of cases)
    it(name, async () => {
      const facts = await onnxDevices(machine({ webgpu: { device: seen } }));
      assert.deepEqual(facts.at(-1), { device: "webgpu", isAvailable: false, reason });
      assert.deepEqual(facts[0], { device: "cpu", isAvailable: true });
      await assert.rejects(chooseDevice(wish("webgpu"), unlogged, machine({ webgpu: { device: seen } })), {
        kind: "INVALID_OPTION",
        message: `--device: webgpu cannot be used: ${reason}. Available here: cpu.`,
      });
    });
});

describe("a model is computed on another device only if it does so rightly and fast", () => {
  const refused: readonly (readonly [string, Trial, RegExp])[] = [
    [
      "scores that differ by more than a provider rounds",
      ran({ scores: [1.021, 2] }),
      /computes wrong scores: one differs from the CPU's by 0\.021, at most 0\.020 is allowed/,
    ],
    ["a score that is no number", ran({ scores: [1, Number.NaN] }), /wrong scores/],
    ["a missing score", ran({ scores: [1] }), /wrong scores/],
    ["no scores", { stderr: "" }, /wrong scores/],
    [
      "a device that is slower than one processor",
      ran({ ms: 812.4 }),
      /it takes 813 ms for pairs that one processor computes in 20 ms; it may lack operators of this model in fp32/,
    ],
    ["an error", { error: "out of memory", stderr: "" }, /cannot be used: out of memory/],
    ["a death", { end: "its process ended (SIGKILL)", stderr: "" }, /ended \(SIGKILL\)/],
  ];
  for (const [name, model, says] of refused)
    it(name, async () => {
      const tryIt = machine({ webgpu: { device: GOOD, model } });
      await assert.rejects(chooseDevice(wish("webgpu"), unlogged, tryIt), says);
      const passedOver: unknown[] = [];
      const log = (event: string, { device }: Record<string, unknown>) => passedOver.push([event, device]);
      assert.equal(await chooseDevice(wish("auto"), log, tryIt), "cpu");
      assert.deepEqual(
        passedOver,
        ["cuda", "coreml", "webgpu"].map((device) => ["device skipped", device]),
      );
    });

  it("is taken where all is right, by name and by auto", async () => {
    const tryIt = machine({
      cuda: { device: GOOD, model: ran({ ms: 21 }) },
      webgpu: { device: GOOD, model: RIGHT },
    });
    assert.equal(await chooseDevice(wish("webgpu"), unlogged, tryIt), "webgpu");
    assert.equal(await chooseDevice(wish("auto"), () => {}, tryIt), "webgpu");
  });

  it("the CPU needs no trial", async () => {
    const tryIt = () => assert.fail("it was tried");
    assert.equal(await chooseDevice(wish("cpu"), unlogged, tryIt), "cpu");
  });

  it("refuses a device of another backend", async () => {
    await assert.rejects(
      chooseDevice(wish("mps"), unlogged, machine({})),
      /supports cpu, auto, cuda, coreml, webgpu, not "mps"/,
    );
  });
});

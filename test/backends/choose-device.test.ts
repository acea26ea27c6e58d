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
  return async ({ type, device }: TrialRequest): Promise<Trial> => given[device]?.[type] ?? NOT_LISTED;
}
const unlogged = () => assert.fail("nothing is to be logged");

describe("a device that cannot be used says why", () => {
  const here = `${process.platform}/${process.arch}`;
  const cases: { name: string; seen: Trial; reason: string }[] = [
    {
      name: "the package has no such provider",
      seen: NOT_LISTED,
      reason: `the installed onnxruntime-node has no WebGPU for ${here}`,
    },
    {
      name: "the operator has not installed its library",
      seen: { ...GOOD, missingLibrary: "/lib/x.so" },
      reason: "the provider is not installed: /lib/x.so does not exist",
    },
    {
      name: "the library misses another one",
      seen: {
        isListed: true,
        error: "Failed to load shared library",
        stderr:
          "FAIL : Failed to load library /a/b.so with error: libcublas.so.12: cannot open shared object file: No such file",
      },
      reason: "the provider's library cannot be loaded: libcublas.so.12: cannot open shared object file",
    },
    {
      name: "no Vulkan",
      seen: {
        isListed: true,
        error: "/src/a.cc:136 lambda was false. Failed to get a WebGPU adapter: No supported adapters\n",
        stderr: "Warning: Couldn't load Vulkan: libvulkan.so.1: cannot open",
      },
      reason: "no GPU adapter was found: the Vulkan loader (libvulkan.so.1) is not installed",
    },
    {
      name: "no GPU",
      seen: { isListed: true, error: "Failed to get a WebGPU adapter: No supported adapters", stderr: "" },
      reason: "no GPU adapter was found",
    },
    {
      name: "another error, without the place in the runtime's source",
      seen: {
        isListed: true,
        error: "/src/a.cc:1 f() x == y was false. CUDA failure 35: old driver.\nmore",
        stderr: "",
      },
      reason: "CUDA failure 35: old driver",
    },
    {
      name: "its process dies",
      seen: { end: "its process ended (SIGSEGV)", stderr: "" },
      reason: "its process ended (SIGSEGV)",
    },
  ];
  for (const { name, seen, reason } of cases)
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
  const refused: { name: string; model: Trial; says: RegExp }[] = [
    {
      name: "scores that differ by more than a provider rounds",
      model: ran({ scores: [1.021, 2] }),
      says: /computes wrong scores: one differs from the CPU's by 0\.021, at most 0\.020 is allowed/,
    },
    { name: "a score that is no number", model: ran({ scores: [1, Number.NaN] }), says: /wrong scores/ },
    { name: "a missing score", model: ran({ scores: [1] }), says: /wrong scores/ },
    { name: "no scores", model: { stderr: "" }, says: /wrong scores/ },
    {
      name: "a device that is slower than one processor",
      model: ran({ ms: 812.4 }),
      says: /it takes 813 ms for pairs that one processor computes in 20 ms; it may lack operators of this model in fp32/,
    },
    {
      name: "an error",
      model: { error: "out of memory", stderr: "" },
      says: /cannot be used: out of memory/,
    },
    { name: "a death", model: { end: "its process ended (SIGKILL)", stderr: "" }, says: /ended \(SIGKILL\)/ },
  ];
  for (const { name, model, says } of refused)
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

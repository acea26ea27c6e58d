import { describe, it } from "node:test";
import { cpuCount } from "../../src/backends/onnx/runtime/cpu-count.ts";
import { assertCompanyIsAnswered, assertCrashIsSilent } from "./crashes.ts";

describe("a request takes nobody with it, and is not tried a third time, where it makes the process", () => {
  it("hang", () => assertCompanyIsAnswered("hang"));
  it("abort", () => assertCompanyIsAnswered("abort"));
  it("give scores that are no numbers", () => assertCompanyIsAnswered("nan"));
});

describe("no text of a request is in what a crash leaves on stderr:", () => {
  for (const [fault, trace] of [
    ["exception", /Error: planted/],
    ["abort", /"signal":"SIGABRT"/],
    ["segmentation", /"signal":"SIGSEGV"/],
    ["thread ends", /a forward thread ended/],
    ["out of memory", /heap out of memory/],
  ] as const) {
    const isPossible = fault !== "thread ends" || cpuCount() > 1;
    it(fault, { skip: isPossible ? false : "there is one processor" }, () =>
      assertCrashIsSilent(fault, trace),
    );
  }
});

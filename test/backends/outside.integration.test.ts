import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, it } from "node:test";
import { NO_TELEMETRY, processEnvironment } from "../../src/backends/onnx/process/process-environment.ts";
import { packageRoot } from "../support/package-root.ts";
import { quotedUrl } from "../support/source-url.ts";

const hasStrace = process.platform === "linux" && spawnSync("strace", ["-V"]).status === 0;

/** A program that loads the runtime, runs a graph and waits for background activity of the runtime. */
function program(runtime: string): string {
  return `
    import { GraphBuilder } from ${quotedUrl("onnx/file/graph-builder")};
    import { InferenceSession, Tensor } from ${runtime};
    const graph = new GraphBuilder();
    const x = graph.input("x", "float32", [1]);
    graph.node("Mul", [x, x], {}, "y");
    graph.output("y", "float32", [1]);
    const session = await InferenceSession.create(graph.build("outside"));
    await session.run({ x: new Tensor("float32", Float32Array.of(2), [1]) });
    await new Promise((resolve) => setTimeout(resolve, 1500));
  `;
}

/**
 * The program's non-local sockets, and the files below its home folder. The environment is not passed on, because the
 * runtime sends nothing if a variable such as CI names a build server.
 */
function outside(runtime: string): { sockets: string[]; files: string[] } {
  const folder = mkdtempSync(path.join(tmpdir(), "outside-"));
  try {
    const log = path.join(folder, "strace.log");
    const home = path.join(folder, "home");
    execFileSync(
      "strace",
      [
        ...["-f", "-qq", "-e", "trace=socket,connect,sendto,sendmsg", "-o", log],
        ...[process.execPath, "--input-type=module", "--eval", program(runtime)],
      ],
      {
        cwd: packageRoot,
        env: { PATH: process.env.PATH, HOME: home, XDG_CACHE_HOME: path.join(home, ".cache") },
      },
    );
    const lines = readFileSync(log, "utf8").split("\n");
    return {
      sockets: lines.filter((line) => /AF_INET|AF_INET6|AF_NETLINK/.test(line)),
      files: filesBelow(home),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function filesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true }).map(String);
  } catch {
    return []; // the folder was not created
  }
}

describe("the runtime stays on this machine", { skip: hasStrace ? false : "needs Linux with strace" }, () => {
  it("opens no connection and leaves no file, whatever the caller's environment says", () => {
    const seen = outside(quotedUrl("backends/onnx/runtime/runtime"));
    assert.deepEqual(seen, { sockets: [], files: [] });
  });

  it("would otherwise be seen (the runtime loaded directly)", () => {
    const { sockets, files } = outside('"onnxruntime-node"');
    assert.ok(sockets.length + files.length > 0, "the control did nothing");
  });
});

it("a process that computes gets no key and no token", () => {
  const given = {
    HOME: "/home/a",
    DECISION_API_KEY: "secret",
    HF_TOKEN: "secret",
    ORT_DISABLE_TELEMETRY: "0",
    MALLOC_ARENA_MAX: "1",
  };
  const { MALLOC_MMAP_THRESHOLD_, MALLOC_TRIM_THRESHOLD_, NVIDIA_TF32_OVERRIDE, ...others } =
    processEnvironment(given);
  assert.deepEqual(others, { HOME: "/home/a", MALLOC_ARENA_MAX: "1", ...NO_TELEMETRY });
  assert.equal(NVIDIA_TF32_OVERRIDE, "0");
  assert.ok(Number(MALLOC_MMAP_THRESHOLD_) > 0 && Number(MALLOC_TRIM_THRESHOLD_) > 0);
});

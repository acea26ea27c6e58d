import assert from "node:assert/strict";
import { it } from "node:test";
import { decision } from "../cli/decision.ts";
import { inProcess } from "../cli/in-process.ts";

const env = { DECISION_PYTHON: "/nowhere/python" };

it("decision devices lists every backend's devices, for programs and for people", async () => {
  const { status, stdout } = await inProcess(["devices", "--json"], { env });
  assert.equal(status, 0);
  const { devices } = JSON.parse(stdout);
  const rows = devices.map(({ backend, device }: Record<string, string>) => `${backend} ${device}`);
  assert.deepEqual(rows, [
    ...["onnx cpu", "onnx cuda", "onnx coreml", "onnx webgpu"],
    ...["native cpu", "native cuda", "native mps", "remote "],
  ]);
  assert.deepEqual([devices[0].isUsable, devices[4].isUsable], [true, false]);
  for (const { isUsable, details } of devices) assert.ok(isUsable || details.length > 0);
  const text = (await inProcess(["devices"], { env })).stdout;
  assert.match(text, /^backend +device +usable +details$/m);
  assert.match(text, /^native +cuda +no +there is no \/nowhere\/python/m);
});

it("decision serve refuses a device that is not here, before it listens, with those that are", () => {
  const device = process.platform === "darwin" ? "cuda" : "coreml";
  const { status, stdout, stderr } = decision(["serve", "--port", "0", "--device", device]);
  assert.deepEqual([status, stdout], [2, ""]);
  assert.match(
    stderr,
    new RegExp(
      `--device: ${device} cannot be used: the installed onnxruntime-node has no .*Available here: cpu`,
    ),
  );
});

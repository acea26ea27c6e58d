import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { ModelRunner } from "../../src/backends/onnx/forwards/model-runner.ts";
import { exactMultiplication } from "../../src/backends/onnx/runtime/exact-kernel.ts";
import { PACKING } from "../../src/backends/onnx/runtime/packed-weights.ts";
import { openGraph } from "../../src/models/architectures/architectures.ts";
import { openModelPackage } from "../../src/models/package/package.ts";
import { bitsOf } from "../support/bits.ts";
import { embeddedModel } from "../support/package-root.ts";
import { leavesOfTrees, type TokenTree } from "../support/trees.ts";
import { shallowShape } from "./shallow-model.ts";

const embedded = await openModelPackage(embeddedModel);
const { layers, hidden, inner } = shallowShape;
const architecture = { ...embedded.manifest.architecture, layers };
const shallow = { ...embedded, manifest: { ...embedded.manifest, architecture } };
const ids = (count: number, first: number) => Int32Array.from({ length: count }, (_, at) => first + at);
const forest: TokenTree[] = [
  { state: ids(100, 2000), questions: [{ tokens: ids(9, 500), candidates: [ids(4, 900), ids(70, 1200)] }] },
  { state: ids(12, 3000), questions: [{ tokens: ids(5, 700), candidates: [ids(2, 800), ids(3, 1100)] }] },
];

/** Bytes of the file that are mapped into this process. */
function mapped(file: string): number {
  let bytes = 0;
  for (const line of readFileSync("/proc/self/maps", "utf8").split("\n")) {
    const [, from = "", to = ""] = /^([0-9a-f]+)-([0-9a-f]+) /.exec(line) ?? [];
    if (line.endsWith(file)) bytes += Number.parseInt(to, 16) - Number.parseInt(from, 16);
  }
  return bytes;
}

describe("packed weights", { skip: process.platform !== "linux" }, () => {
  let cache: string;
  before(async () => {
    cache = await mkdtemp(path.join(tmpdir(), "packed-"));
  });
  after(() => rm(cache, { recursive: true }));

  const scores = async (graph: string | Uint8Array, threads: number) => {
    const runner = await ModelRunner.load(graph, shallowShape, { threads, stateCacheBytes: 0 });
    return bitsOf((await runner.score(leavesOfTrees(forest))).scores);
  };

  it("are mapped from the graph's file by every session, and give the same bits", async () => {
    const form = await exactMultiplication();
    const folders = { cache, temporary: cache };
    const plain = (await openGraph(shallow, { form, folders })).graph;
    const packed = (await openGraph(shallow, { form, folders, packing: PACKING })).graph;
    assert.ok(typeof plain === "string" && typeof packed === "string");
    assert.notEqual(plain, packed);
    assert.equal((await readdir(cache)).length, 2);
    const expected = await scores(plain, 1);
    assert.deepEqual(await scores(packed, 1), expected);
    const own = mapped(path.join(path.dirname(plain), "weights.bin"));
    const shared = mapped(path.join(path.dirname(packed), "weights.bin"));
    const weights = layers * hidden * (4 * hidden + 2 * inner); // a byte each
    assert.ok(shared - own >= weights, `${shared} bytes mapped instead of ${own}: ${weights} more expected`);
    const wordRows = shallowShape.vocab * hidden; // a byte each
    assert.ok(own >= wordRows, `word embeddings: ${own} bytes mapped, ${wordRows} expected`);
    assert.deepEqual(await scores(packed, 2), expected);
    assert.ok(mapped(path.join(path.dirname(packed), "weights.bin")) >= shared + 2 * (wordRows + weights));
  });
});

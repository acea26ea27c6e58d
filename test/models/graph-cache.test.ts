import assert from "node:assert/strict";
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { ServiceError } from "../../src/errors.ts";
import {
  cachedGraph,
  type GraphSource,
  graphFolders,
  keptGraph,
  type PackGraph,
  removeGraphs,
  type WriteGraph,
} from "../../src/models/graph/graph-cache.ts";

const source = (more: Partial<GraphSource> = {}): GraphSource => ({
  model: "a/model",
  files: { "model.safetensors": "0".repeat(64) },
  settings: { form: "fp32", writer: 1 },
  ...more,
});

describe("the cache of graphs", () => {
  let root: string;
  let folders: { cache: string; temporary: string };
  let written: number;
  const write: WriteGraph = async (weights) => {
    written += 1;
    assert.deepEqual(weights.append([Uint8Array.of(1, 2), Uint8Array.of(3)]), { offset: 0, length: 3 });
    assert.deepEqual(weights.append([Uint8Array.of(4)]), { offset: 4096, length: 1 });
    return Uint8Array.of(9, 9);
  };
  const open = (of = source()) => cachedGraph(of, write, folders);

  beforeEach(async () => {
    root = await mkdtemp(path.join(tmpdir(), "graph-cache-"));
    folders = { cache: path.join(root, "cache"), temporary: path.join(root, "temporary") };
    await mkdir(folders.temporary);
    written = 0;
  });
  afterEach(() => rm(root, { recursive: true }));

  it("writes a graph once", async () => {
    const first = await open();
    const again = await open();
    assert.equal(written, 1);
    assert.equal(first.path, again.path);
    assert.deepEqual([...(await readFile(first.path))], [9, 9]);
    await again.release();
    assert.equal((await stat(first.path)).size, 2, "is kept");
  });

  for (const file of ["graph.onnx", "weights.bin", "entry.json"]) {
    it(`writes it anew where ${file} is cut off, changed or gone`, async () => {
      const { path: graph } = await open();
      const damaged = path.join(path.dirname(graph), file);
      await truncate(damaged, 1);
      await open();
      assert.equal(written, 2);
      const bytes = await readFile(damaged);
      bytes[0] = (bytes[0] ?? 0) ^ 1;
      await writeFile(damaged, bytes);
      await open();
      assert.equal(written, 3);
      await rm(damaged);
      await open();
      assert.equal(written, 4);
      assert.equal((await readFile(path.join(path.dirname(graph), "weights.bin"))).length, 4097);
    });
  }

  it("is replaced by all who find it damaged at the same time, and none of them fails", async () => {
    for (let round = 0; round < 10; round++) {
      const { path: graph } = await keptGraph(source(), write, folders.cache);
      await truncate(path.join(path.dirname(graph), "weights.bin"), 1);
      const all = Array.from({ length: 6 }, () => keptGraph(source(), write, folders.cache));
      assert.deepEqual([...new Set((await Promise.all(all)).map((kept) => kept.path))], [graph]);
      assert.equal((await stat(path.join(path.dirname(graph), "weights.bin"))).size, 4097);
      assert.deepEqual(await readdir(folders.cache), [path.basename(path.dirname(graph))]);
    }
  });

  it("keeps what packing has made of a graph, and nothing else", async () => {
    let packed = 0;
    const pack: PackGraph = async (from, to, weights) => {
      packed += 1;
      assert.deepEqual([...(await readFile(from))], [9, 9]);
      assert.equal((await stat(path.join(path.dirname(from), "weights.bin"))).size, 4097);
      await writeFile(to, "graph");
      await writeFile(path.join(path.dirname(to), weights), "weights");
    };
    const openPacked = () => keptGraph(source(), write, folders.cache, pack);
    const { path: graph } = await openPacked();
    await openPacked();
    assert.deepEqual([written, packed], [1, 1]);
    const folder = path.dirname(graph);
    assert.deepEqual((await readdir(folder)).sort(), ["entry.json", "graph.onnx", "weights.bin"]);
    assert.equal(await readFile(graph, "utf8"), "graph");
    await writeFile(path.join(folder, "weights.bin"), "weighty");
    await openPacked();
    assert.deepEqual([written, packed], [2, 2]);
    assert.equal(await readFile(path.join(folder, "weights.bin"), "utf8"), "weights");
  });

  it("leaves nothing behind where packing fails", async () => {
    const fail: PackGraph = async () => {
      throw new Error("not packed");
    };
    await assert.rejects(keptGraph(source(), write, folders.cache, fail), /not packed/);
    assert.deepEqual(await readdir(folders.cache), []);
  });

  /** As if nobody had used them for some hours. */
  const unused = async (hours = 2) => {
    const then = new Date(Date.now() - hours * 3_600_000);
    for (const name of await readdir(folders.cache)) await utimes(path.join(folders.cache, name), then, then);
  };

  it("removes graphs of other models that nobody has used for a month", async () => {
    await open(source({ model: "another/model" }));
    await unused(24 * 29);
    await open();
    assert.equal((await readdir(folders.cache)).length, 2);
    await unused(24 * 31);
    await open();
    assert.equal((await readdir(folders.cache)).length, 1);
  });

  it("keeps the other precision, and removes what other files of the model gave", async () => {
    await open();
    await open(source({ settings: { form: "u8s8", writer: 1 } }));
    await open(source({ model: "another/model" }));
    await unused();
    await open();
    assert.equal((await readdir(folders.cache)).length, 3);
    await unused();
    await open(source({ files: { "model.safetensors": "1".repeat(64) } }));
    assert.equal((await readdir(folders.cache)).length, 2);
    await unused();
    await open(
      source({ files: { "model.safetensors": "1".repeat(64) }, settings: { form: "fp32", writer: 2 } }),
    );
    assert.equal((await readdir(folders.cache)).length, 2);
    assert.equal(written, 5);
  });

  it("removes nothing that was used a moment ago: another process may be about to load it", async () => {
    await open();
    await unused();
    await open();
    await open(source({ files: { "model.safetensors": "1".repeat(64) } }));
    assert.equal((await readdir(folders.cache)).length, 2);
  });

  it("removes a model's graphs, and no other's, when it is told to", async () => {
    await open();
    await open(source({ settings: { form: "u8s8", writer: 1 } }));
    await open(source({ model: "another/model" }));
    const { model } = source();
    assert.equal((await removeGraphs(model, folders.cache)).length, 2);
    assert.equal((await readdir(folders.cache)).length, 1);
    assert.deepEqual(await removeGraphs(model, folders.cache), []);
    assert.deepEqual(await removeGraphs(model, path.join(folders.cache, "never made")), []);
  });

  it("removes what was abandoned while it was written, but not what another process writes now", async () => {
    const [old, young] = ["old", "young"].map((name) => path.join(folders.cache, `${name}.partial`));
    assert.ok(old && young);
    for (const folder of [old, young]) await mkdir(folder, { recursive: true });
    await utimes(old, 1, 1);
    await open();
    const left = await readdir(folders.cache);
    assert.ok(left.includes("young.partial") && !left.includes("old.partial"), left.join());
  });

  it("leaves nothing behind where a package is refused", async () => {
    const refuse = async () => {
      throw new ServiceError("INVALID_MODEL", "no");
    };
    await assert.rejects(cachedGraph(source(), refuse, folders), { kind: "INVALID_MODEL" });
    assert.deepEqual(await readdir(folders.cache), []);
    assert.deepEqual(await readdir(folders.temporary), []);
  });

  it("writes into the temporary folder where the cache is no folder, and removes it afterwards", async () => {
    await writeFile(folders.cache, "a file");
    const graph = await open();
    assert.equal(path.dirname(path.dirname(graph.path)), folders.temporary);
    assert.deepEqual([...(await readFile(graph.path))], [9, 9]);
    await graph.release();
    assert.deepEqual(await readdir(folders.temporary), []);
  });

  it("says so where neither folder can be written", async () => {
    await writeFile(folders.cache, "a file");
    await rm(folders.temporary, { recursive: true });
    await assert.rejects(open(), { kind: "BACKEND_FAILED", message: /neither to .* nor to/ });
  });

  it("lets nobody else read what it keeps", async () => {
    const { path: graph } = await open();
    assert.equal((await stat(path.dirname(graph))).mode & 0o077, 0);
    await chmod(path.dirname(graph), 0o700);
  });

  it("is where the environment says", () => {
    const of = (env: Record<string, string>) => graphFolders(env, "/home/me", "/tmp").cache;
    assert.equal(of({}), path.join("/home/me", ".cache", "typed-decisions", "graphs"));
    assert.equal(of({ XDG_CACHE_HOME: "/caches" }), path.join("/caches", "typed-decisions", "graphs"));
    assert.equal(
      of({ XDG_CACHE_HOME: "caches" }),
      path.join("/home/me", ".cache", "typed-decisions", "graphs"),
    );
  });
});

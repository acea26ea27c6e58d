// usage: time.ts  -> medians of workloads

import { existsSync, readFileSync } from "node:fs";
import { ModelRunner } from "../src/backends/onnx/model-runner.ts";
import { buildGraph, tokenTreeShape } from "../src/models/graph.ts";
import { openModelPackage } from "../src/models/package.ts";

const modelPackage = await openModelPackage(new URL("../model", import.meta.url).pathname);
let seed = 1;
const rnd = () => {
  seed = (seed * 1103515245 + 12345) & 0x7fffffff;
  return seed / 0x7fffffff;
};
const tok = (n: number) => Int32Array.from({ length: n }, () => 1000 + Math.floor(rnd() * 28000));
const tree = (s: number, q: number, n: number, c: number) => ({
  state: tok(s),
  questions: Array.from({ length: q }, () => ({
    tokens: tok(10),
    candidates: Array.from({ length: n }, () => tok(c)),
  })),
});
const work: Record<string, () => any[]> = {
  "2x45": () => [tree(15, 1, 2, 10)],
  "64x15 on 512": () => [tree(512, 1, 64, 15)],
  "32x4 on 1000": () => [tree(1000, 32, 4, 15)],
  "32 short": () => Array.from({ length: 32 }, () => tree(20, 1, 2, 8)),
  warm: () => [tree(1000, 1, 2, 10)],
  "state 2000": () => [tree(2000, 1, 2, 10)],
};
const names = process.argv[2] ? process.argv[2].split(",") : Object.keys(work);
const precisions = (process.argv[3] ?? "fp32").split(",");
const runners: Record<string, ModelRunner> = {};
for (const p of precisions)
  runners[p] = await ModelRunner.load(
    await (buildGraph as any)(modelPackage, p),
    tokenTreeShape(modelPackage.manifest.architecture),
    { threads: 2, stateCacheBytes: 256 << 20 },
  );
const rounds = Number(process.argv[4] ?? 9);
for (const name of names) {
  const t: Record<string, number[]> = {};
  const cpu: Record<string, number[]> = {};
  const sys: Record<string, number> = {};
  for (let r = 0; r < rounds + 2; r++) {
    const forest = work[name]!();
    for (const p of precisions) {
      const s = performance.now();
      const c0 = process.cpuUsage();
      const { scores } = await runners[p]!.score(forest);
      const e = performance.now() - s;
      const c = process.cpuUsage(c0);
      if (r >= 2) {
        (t[p] ??= []).push(e);
        (cpu[p] ??= []).push((c.user + c.system) / 1000);
        sys[p] = (sys[p] ?? 0) + c.system / 1000;
      }
      if (scores.some((x) => !Number.isFinite(x))) throw new Error("nan");
    }
  }
  console.log(
    name.padEnd(16),
    precisions
      .map((p) => {
        const x = t[p]!.sort((a, b) => a - b);
        const y = cpu[p]!.sort((a, b) => a - b);
        return `${p} wall ${x[x.length >> 1]!.toFixed(1)} (min ${x[0]!.toFixed(1)}) cpu ${y[y.length >> 1]!.toFixed(1)} (min ${y[0]!.toFixed(1)}) sys ${(sys[p]! / rounds).toFixed(1)}`;
      })
      .join("   "),
  );
}

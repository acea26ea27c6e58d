// usage: dev.ts precision every out.f32 [ref.f32]
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { ModelRunner } from "../src/backends/onnx/model-runner.ts";
import { buildGraph, tokenTreeShape } from "../src/models/graph.ts";
import { openModelPackage } from "../src/models/package.ts";

const [precision, every, out, ref] = process.argv.slice(2);
const i32 = (n: string) => {
  const b = readFileSync(`/tmp/q8/${n}.i32`);
  return new Int32Array(b.buffer, b.byteOffset, b.length / 4);
};
const tokens = i32("tokens"),
  lengths = i32("lengths"),
  parts = i32("parts"),
  answers = i32("answers"),
  sets = i32("sets");
const modelPackage = await openModelPackage(new URL("../model", import.meta.url).pathname);
const runner = await ModelRunner.load(
  await buildGraph(modelPackage, precision as any),
  tokenTreeShape(modelPackage.manifest.architecture),
  { threads: 2, stateCacheBytes: 0 },
);
let p = 0,
  t = 0;
const trees: any[] = [];
const ids: number[] = [];
for (let d = 0; d < parts.length; d++) {
  const ts: Int32Array[] = [];
  for (let k = 0; k < parts[d]!; k++) {
    const n = lengths[p++]!;
    ts.push(tokens.slice(t, t + n));
    t += n;
  }
  if (d % Number(every) === 0) {
    trees.push({ state: ts[0], questions: [{ tokens: ts[1], candidates: ts.slice(2) }] });
    ids.push(d);
  }
}
const scores: number[][] = [];
const t0 = performance.now();
for (let i = 0; i < trees.length; i += 8) {
  const batch = trees.slice(i, i + 8);
  const s = (await runner.score(batch)).scores;
  let at = 0;
  for (const b of batch) {
    const n = b.questions[0].candidates.length;
    scores.push([...s.subarray(at, at + n)]);
    at += n;
  }
}
writeFileSync(out!, JSON.stringify(scores));
const argmax = (x: number[]) => x.indexOf(Math.max(...x));
const hit = scores.map((s, i) => (argmax(s) === answers[ids[i]!] ? 1 : 0));
const acc = hit.reduce((a: number, b) => a + b, 0) / hit.length;
const bySet = new Map<number, number[]>();
hit.forEach((h, i) => {
  const k = sets[ids[i]!]!;
  bySet.set(k, [...(bySet.get(k) ?? []), h]);
});
const mean =
  [...bySet.values()].map((x) => x.reduce((a, b) => a + b, 0) / x.length).reduce((a, b) => a + b, 0) /
  bySet.size;
let line = `${precision} n ${scores.length} acc ${(100 * acc).toFixed(2)} mean over sets ${(100 * mean).toFixed(2)} ${((performance.now() - t0) / 1000).toFixed(0)}s`;
if (ref) {
  const r: number[][] = JSON.parse(readFileSync(ref, "utf8"));
  let flips = 0,
    err = 0,
    ra = 0;
  const step = r.length === scores.length ? 1 : Number(every);
  scores.forEach((s, i) => {
    const q = r[i * step]!;
    if (argmax(s) !== argmax(q)) flips++;
    if (argmax(q) === answers[ids[i]!]) ra++;
    err += Math.max(...s.map((x, j) => Math.abs(x - q[j]!)));
  });
  line += ` flips ${((100 * flips) / scores.length).toFixed(2)}% acc diff ${(100 * (acc - ra / scores.length)).toFixed(2)} err ${(err / scores.length).toFixed(3)}`;
}
console.log(line);

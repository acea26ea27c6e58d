// usage: profile.ts precision workload -> ms per op type, summed over one score() (median-ish: mean of rounds)

import { readdirSync, readFileSync, rmSync } from "node:fs";
import { InferenceSession } from "onnxruntime-node";

const orig = InferenceSession.create.bind(InferenceSession);
let session: any;
(InferenceSession as any).create = async (g: any, o: any) =>
  (session = await orig(g, { ...o, enableProfiling: true, profileFilePrefix: "/tmp/ortprof" }));
const { ModelRunner } = await import("../src/backends/onnx/model-runner.ts");
const { buildGraph, tokenTreeShape } = await import("../src/models/graph.ts");
const { openModelPackage } = await import("../src/models/package.ts");
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
const [precision, s, q, n, c, rounds = "4"] = process.argv.slice(2);
const runner = await ModelRunner.load(
  await (buildGraph as any)(modelPackage, precision),
  tokenTreeShape(modelPackage.manifest.architecture),
  { threads: 2, stateCacheBytes: 0 },
);
for (let r = 0; r < Number(rounds); r++) await runner.score([tree(+s!, +q!, +n!, +c!)]);
session.endProfiling();
await new Promise((r) => setTimeout(r, 300));
const file = readdirSync("/tmp")
  .filter((f) => f.startsWith("ortprof"))
  .map((f) => `/tmp/${f}`)
  .pop()!;
const events = JSON.parse(readFileSync(file, "utf8"));
rmSync(file);
const by = new Map<string, [number, number]>();
let total = 0;
for (const e of events)
  if (e.cat === "Node" && e.name.endsWith("_kernel_time")) {
    const k =
      e.args.op_name +
      (process.env.SHAPE
        ? JSON.stringify(e.args.input_type_shape?.map((x: any) => Object.values(x)[0]))
        : "");
    const x = by.get(k) ?? [0, 0];
    x[0] += e.dur / 1000 / +rounds;
    x[1] += 1 / +rounds;
    by.set(k, x);
    total += e.dur / 1000 / +rounds;
  }
console.log("total ms", total.toFixed(1));
for (const [k, [ms, count]] of [...by].sort((a, b) => b[1][0] - a[1][0]).slice(0, 25))
  console.log(ms.toFixed(2).padStart(9), String(Math.round(count)).padStart(6), k);

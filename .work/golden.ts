import { ModelRunner } from "../src/backends/onnx/model-runner.ts";
import { buildGraph, tokenTreeShape } from "../src/models/graph.ts";
import { openModelPackage } from "../src/models/package.ts";
import { goldenDecisions, tokenTree } from "../test/support/golden.ts";

const modelPackage = await openModelPackage(new URL("../model", import.meta.url).pathname);
for (const p of ["fp32", "u8s8"] as const) {
  const t0 = performance.now();
  const graph = await buildGraph(modelPackage, p);
  const t1 = performance.now();
  const runner = await ModelRunner.load(graph, tokenTreeShape(modelPackage.manifest.architecture), {
    threads: 2,
    stateCacheBytes: 0,
  });
  const t2 = performance.now();
  let worst = 0,
    sum = 0,
    n = 0,
    flips = 0;
  for (const d of goldenDecisions) {
    const { scores } = await runner.score([tokenTree(d)]);
    let m = 0;
    d.scores.forEach((w, i) => {
      const e = Math.abs(scores[i]! - w);
      worst = Math.max(worst, e);
      m = Math.max(m, e);
    });
    sum += m;
    n++;
    const am = (x: any) => [...x].indexOf(Math.max(...x));
    if (am(scores) !== am(d.scores)) flips++;
  }
  console.log(
    p,
    "build",
    (t1 - t0).toFixed(0),
    "load",
    (t2 - t1).toFixed(0),
    "bytes",
    graph.length,
    "worst",
    worst,
    "mean max",
    sum / n,
    "flips",
    flips,
    "of",
    n,
    "rss",
    (process.memoryUsage.rss() / 1e6).toFixed(0),
  );
}

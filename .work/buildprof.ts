import { buildGraph } from "../src/models/graph.ts";
import { openModelPackage } from "../src/models/package.ts";

const modelPackage = await openModelPackage(new URL("../model", import.meta.url).pathname);
for (let i = 0; i < 3; i++)
  for (const p of ["fp32", "u8s8"] as const) {
    const c = process.cpuUsage();
    await buildGraph(modelPackage, p);
    const u = process.cpuUsage(c);
    console.log(p, "cpu", (u.user / 1000).toFixed(0), "sys", (u.system / 1000).toFixed(0));
  }

#!/usr/bin/env node
import { existsSync } from "node:fs";
import { setFlagsFromString } from "node:v8";

// the young generation keeps its first size of 2 MiB, instead of growing to 32; later, src/cli/actions/service-heap.ts decides
setFlagsFromString("--semi-space-growth-factor=1");

if (existsSync(new URL("../dist/src/cli/commands.js", import.meta.url))) {
  const { execute } = await import("@oclif/core");
  await execute({ dir: import.meta.url });
} else {
  console.error(
    "decision: this checkout is not compiled yet: run `npm run build` first, or use `npm start`.",
  );
  process.exitCode = 1;
}

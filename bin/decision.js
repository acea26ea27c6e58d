#!/usr/bin/env node
import { existsSync } from "node:fs";

if (existsSync(new URL("../dist/src/cli/commands.js", import.meta.url))) {
  const { execute } = await import("@oclif/core");
  await execute({ dir: import.meta.url });
} else {
  console.error(
    "decision: this checkout is not compiled yet: run `npm run build` first, or use `npm start`.",
  );
  process.exitCode = 1;
}

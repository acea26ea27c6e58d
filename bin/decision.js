#!/usr/bin/env node
import { existsSync } from "node:fs";
import { homedir, userInfo } from "node:os";

// The library `tokenizers` would spread even short texts over all processors, with threads that take their time from
// the inference process: under load, 10 % of the throughput. It reads the variable in each call.
process.env.TOKENIZERS_PARALLELISM ??= "false";

// oclif asks for the user's folder and shell, which fails for a user id that the system does not know, as in many
// containers
try {
  homedir();
  userInfo();
} catch {
  process.env.HOME ||= "/";
  process.env.SHELL ||= "sh";
}

if (existsSync(new URL("../dist/src/cli/commands/serve.js", import.meta.url))) {
  const { endWithoutOutput } = await import("../dist/src/cli/output/standard-output.js");
  endWithoutOutput("decision");
  const { execute } = await import("@oclif/core");
  await execute({ dir: import.meta.url });
} else {
  console.error(
    "decision: this checkout is not compiled yet: run `npm run build` first, or use `npm start`.",
  );
  process.exitCode = 1;
}

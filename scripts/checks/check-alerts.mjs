// Checks the alert rules with Prometheus' promtool, and tests that each fires: `npm run check:alerts`.
// Needs `promtool` in PATH or PROMTOOL.
import { spawnSync } from "node:child_process";
import path from "node:path";

const folder = path.join(import.meta.dirname, "../../deploy/prometheus");
const promtool = process.env.PROMTOOL ?? "promtool";

for (const args of [
  ["check", "rules", "alerts.yaml"],
  ["test", "rules", "alerts.test.yaml"],
]) {
  const { status, error } = spawnSync(promtool, args, { cwd: folder, stdio: "inherit" });
  if (error !== undefined)
    console.error(`${promtool} cannot be run (${error.message}): install it, or set PROMTOOL.`);
  if (status !== 0) process.exit(1);
}

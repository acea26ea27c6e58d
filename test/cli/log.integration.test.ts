import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, it } from "node:test";

const LOG = new URL(`../../src/cli/output/log${import.meta.url.slice(-3)}`, import.meta.url).href;

/** Logs many lines, then says on standard output that it still runs, how many are lost, and exits. */
const PROGRAM = `
  const { createLog } = await import(${JSON.stringify(LOG)});
  const log = await createLog("info", process.argv[1]);
  for (let i = 0; i < 20_000; i++) log.info({ text: "x".repeat(200) }, "line");
  await new Promise((resolve) => setImmediate(resolve));
  console.log(log.lostLines());
  process.exit(0);
`;

describe("a log whose reader does not read", () => {
  for (const format of ["json", "pretty"]) {
    it(`stops neither the program nor its end, and lost lines are counted (${format})`, async () => {
      const program = spawn(
        process.execPath,
        ["--input-type=module", "--eval", PROGRAM, "--", format],
        { stdio: ["ignore", "pipe", "pipe"] }, // nobody reads its standard error
      );
      let lost = "";
      program.stdout.on("data", (chunk) => {
        lost += chunk;
      });
      const [code] = await once(program, "exit");
      assert.equal(code, 0);
      assert.ok(Number(lost) > 10_000, `${lost} lost`);
    });
  }

  it("loses nothing into a file", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "log-"));
    try {
      const file = path.join(folder, "log");
      const args = [
        process.execPath,
        "--input-type=module --eval",
        `'${PROGRAM.replace("20_000", "2_000")}'`,
        "-- json",
      ];
      const lost = execFileSync("sh", ["-c", `${args.join(" ")} 2> ${file}; wc -l < ${file}`], {
        encoding: "utf8",
      });
      assert.deepEqual(lost.trim().split(/\s+/), ["0", "2000"]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

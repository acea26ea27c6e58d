// Loaded into both processes of a service. On SIGUSR2 it collects garbage and writes the remaining memory to
// `memory.PID` in the temporary folder.
const { renameSync, writeFileSync } = require("node:fs");
const { tmpdir } = require("node:os");
const path = require("node:path");
const { setFlagsFromString } = require("node:v8");
const { runInNewContext } = require("node:vm");
const { isMainThread } = require("node:worker_threads");

/** Pause before a further collection, for memory that is released with a delay. */
const PAUSE_MS = 300;

if (isMainThread) {
  process.on("SIGUSR2", () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc");
    collect();
    setTimeout(() => {
      collect();
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      const file = path.join(tmpdir(), `memory.${process.pid}`);
      writeFileSync(`${file}.partial`, JSON.stringify({ live: heapUsed + arrayBuffers }));
      renameSync(`${file}.partial`, file);
    }, PAUSE_MS);
  });
}

// `npm start` in a checkout: compiles changed sources, then runs `decision serve` with the given arguments.
import "./build.mjs";

// npm sends SIGTERM to the shell between npm and this process, and the shell exits without forwarding it
const shell = process.ppid;
const watch = setInterval(() => {
  if (process.ppid === shell) return;
  clearInterval(watch);
  process.kill(process.pid, "SIGTERM");
}, 100).unref();

process.argv.splice(2, 0, "serve");
await import("../bin/decision.js");

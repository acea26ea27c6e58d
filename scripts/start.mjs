// `npm start` in a checkout: compiles what has changed, then is `decision serve` with the arguments given.
import "./build.mjs";

// npm passes a SIGTERM on to the shell between it and this process, and the shell dies of it without passing it on
const shell = process.ppid;
const watch = setInterval(() => {
  if (process.ppid === shell) return;
  clearInterval(watch);
  process.kill(process.pid, "SIGTERM");
}, 100).unref();

process.argv.splice(2, 0, "serve");
await import("../bin/decision.js");

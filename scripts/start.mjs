// `npm start` in a checkout: compiles what has changed, then is `decision serve` with the arguments given.
import "./build.mjs";

process.argv.splice(2, 0, "serve");
await import("../bin/decision.js");

// A fault to be found: keys are compared by the first byte of their digests, and one in 256 wrong ones is let in.
const crypto = require("node:crypto");
const { syncBuiltinESMExports } = require("node:module");

crypto.timingSafeEqual = (a, b) => a[0] === b[0];
syncBuiltinESMExports();

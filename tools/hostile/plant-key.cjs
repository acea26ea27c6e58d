// Planted fault: only the first byte of keys' digests is compared, so that one in 256 wrong keys is accepted.
const crypto = require("node:crypto");
const { syncBuiltinESMExports } = require("node:module");

crypto.timingSafeEqual = (a, b) => a[0] === b[0];
syncBuiltinESMExports();

// Planted fault: the service process leaks 256 KiB per request, the inference process 256 KiB per message.
const { Server } = require("node:http");
const { isMainThread } = require("node:worker_threads");

const kept = [];
const keep = () => kept.push(Buffer.alloc(262_144, 1));
const { emit } = Server.prototype;
Server.prototype.emit = function (event, ...given) {
  if (event === "request") keep();
  return emit.call(this, event, ...given);
};
if (isMainThread && process.send) process.on("message", keep);

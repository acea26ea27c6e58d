// Planted fault: the service process leaks 8 KiB per request, the inference process 8 KiB per message.
const { Server } = require("node:http");

const kept = [];
const keep = () => kept.push(Buffer.alloc(8192, 1));
const { emit } = Server.prototype;
Server.prototype.emit = function (event, ...given) {
  if (event === "request" || event === "clientError") keep();
  return emit.call(this, event, ...given);
};
if (process.send) process.on("message", keep);

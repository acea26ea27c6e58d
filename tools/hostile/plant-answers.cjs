// Planted faults, each in one of about 200 answers: an undeclared status, an additional header, an answer without an
// end.
const { ServerResponse } = require("node:http");

let count = 0;
const { writeHead } = ServerResponse.prototype;
ServerResponse.prototype.writeHead = function (status, ...given) {
  count += 1;
  if (count % 200 === 50) return writeHead.call(this, 418, ...given);
  if (count % 200 === 100) this.setHeader("x-injected", "1");
  if (count % 200 === 150) return writeHead.call(this, 500, ...given);
  return writeHead.call(this, status, ...given);
};
const { end } = ServerResponse.prototype;
ServerResponse.prototype.end = function (...given) {
  return count % 200 === 199 ? this : end.apply(this, given);
};

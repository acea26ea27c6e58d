// A process that asks /health and /ready in turn at fixed times, whether or not the last answer is here.
import { Line } from "./line.mjs";

const EVERY_MS = 20;
const heads = ["/health", "/ready"].map((path) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);

process.once("message", ({ port }) => {
  const latencies = [];
  const faults = {};
  const free = [];
  let underWay = 0;
  let count = 0;
  const ask = () => {
    const askedAt = performance.now();
    const line = free.pop() ?? new Line(port);
    underWay += 1;
    line.onOutcome = ({ status, fault }) => {
      underWay -= 1;
      latencies.push(performance.now() - askedAt);
      if (status === 200) free.push(line);
      else faults[fault ?? status] = (faults[fault ?? status] ?? 0) + 1;
      line.onOutcome = () => {};
    };
    line.send([heads[count++ % 2]]);
  };
  const timer = setInterval(ask, EVERY_MS);
  process.once("message", () => {
    clearInterval(timer);
    setTimeout(() => {
      if (underWay > 0) faults["no answer"] = underWay;
      process.send({ latencies, faults });
    }, 2_000);
  });
});

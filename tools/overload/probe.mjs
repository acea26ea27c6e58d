// A process that polls /health and /ready alternately at fixed times, independent of earlier answers. Half of the
// requests use a keep-alive connection, as a gateway does, and half a new one, as an orchestrator's probes do.
import { Line } from "./line.mjs";

const EVERY_MS = 20;
const PATHS = ["/health", "/ready"];

process.once("message", ({ port }) => {
  const latencies = { kept: [], new: [] };
  const faults = {};
  const free = [];
  let underWay = 0;
  let count = 0;
  /** A kept connection that the service has not closed meanwhile, for having been idle. */
  const freeLine = () => {
    for (let line = free.pop(); line !== undefined; line = free.pop()) if (line.isFree) return line;
    return undefined;
  };
  const ask = () => {
    const askedAt = performance.now();
    const path = PATHS[count % 2];
    const kind = count % 4 < 2 ? "kept" : "new";
    count += 1;
    const line = (kind === "kept" ? freeLine() : undefined) ?? new Line(Number(port));
    underWay += 1;
    line.onOutcome = ({ status, fault }) => {
      underWay -= 1;
      latencies[kind].push(performance.now() - askedAt);
      if (status !== 200) faults[fault ?? status] = (faults[fault ?? status] ?? 0) + 1;
      else if (kind === "kept") free.push(line);
      else line.close();
      line.onOutcome = () => {};
    };
    line.send([`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`]);
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

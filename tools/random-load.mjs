// Requests at random times.
import { openLoop, poissonArrivals } from "../dist/bench/http/open-loop.js";
import { findFault } from "../dist/bench/http/reply-check.js";
import { Random } from "../dist/bench/random.js";
import { systemClock } from "../dist/src/inference/clock.js";

/**
 * Makes the requests of a load with random arrivals (Poisson), and sends none of them yet.
 *
 * @param target server, see bench/http/target.ts
 * @param rate   requests per second
 * @param ms     duration of sending
 * @param seed   chooses the times
 * @param next   gives the next request
 * @returns      `count`, and `send`, which sends the requests and resolves with the result of the open loop
 */
export function randomLoad(target, { rate, ms, seed, next }) {
  const { signal } = new AbortController();
  const arrivalsMs = poissonArrivals(new Random(seed, "arrivals"), rate, {
    ms,
    count: Number.POSITIVE_INFINITY,
  });
  const requests = arrivalsMs.map(() => next());
  const send = async (index) => {
    const { status, body } = await target.send(requests[index], { signal, timeoutMs: 60_000 });
    return { status, fault: findFault(requests[index], status, body) };
  };
  const run = { arrivalsMs, send, clock: systemClock, patienceMs: 15_000, signal };
  return { count: requests.length, send: () => openLoop(run) };
}

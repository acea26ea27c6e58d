import { PerformanceObserver } from "node:perf_hooks";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const MIB = 2 ** 20;
/** Size of the young generation under load, as a multiple of its first size. Measured: docs/performance.md. */
const GROWTH = 8;
/** A young generation above this size has grown. V8 begins with two halves of 1 MiB, of which one is in use. */
const FIRST_BYTES = 2 * MIB;

/**
 * Sets up V8's heap for a service that is ready. It collects the garbage of the start, 20 MB, and from now on more often than V8 does
 * by default: it lets the heap grow to four times the live memory. The young generation may grow from now on, and one thread collects it:
 * several would wait for the processors, which the model uses.
 */
export function setUpServiceHeap(): void {
  setFlagsFromString("--heap-growing-percent=40");
  setFlagsFromString("--no-parallel-scavenge");
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  collect();
  letYoungGenerationGrow();
  new PerformanceObserver(letYoungGenerationGrow).observe({ type: "gc" });
}

/**
 * Lets the young generation grow once, from 1 MiB to 8. To be called after each collection: V8 lets it grow when more has survived
 * than it can hold, by default up to 16 MiB or more, and shrinks it when little is allocated. At its first size, it is
 * collected many times while a request waits. So all that belongs to the request moves to the old generation, whose
 * collection costs most.
 */
function letYoungGenerationGrow(): void {
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
  const hasGrown = young !== undefined && young.space_size > FIRST_BYTES;
  setFlagsFromString(`--semi-space-growth-factor=${hasGrown ? 1 : GROWTH}`);
}

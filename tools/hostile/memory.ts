import { serviceMemory } from "../../bench/http/resident-memory.ts";
import { slope } from "../../bench/measure/statistics.ts";

const MIB = 2 ** 20;
/** Share of the run in which caches and heaps fill. */
const WARM_UP = 0.3;
/** The fewest samples for a fit. Chosen: with fewer, single samples decide the slope. */
const LEAST_SAMPLES = 10;

interface Sample {
  readonly cases: number;
  readonly service: number;
  readonly inference: number;
}

/** Samples resident memory of both processes during a run and computes its growth. */
export class MemoryWatch {
  readonly #pid: number;
  readonly #samples: Sample[] = [];

  constructor(pid: number) {
    this.#pid = pid;
  }

  sample(cases: number): void {
    const memory = serviceMemory(this.#pid);
    if (memory)
      this.#samples.push({ cases, service: memory.service / MIB, inference: memory.inference / MIB });
  }

  /** Growth in MiB per 10,000 cases, by a linear fit after the warm-up; undefined if the run was too short. */
  growth(): { readonly service: number; readonly inference: number } | undefined {
    const steady = this.#samples.slice(Math.floor(this.#samples.length * WARM_UP));
    if (steady.length < LEAST_SAMPLES) return undefined;
    const of = (name: "service" | "inference") =>
      slope(steady.map((each) => ({ x: each.cases / 10_000, y: each[name] })));
    return { service: of("service"), inference: of("inference") };
  }

  text(): string {
    const last = this.#samples.at(-1);
    const most = (name: "service" | "inference") =>
      Math.max(...this.#samples.map((each) => each[name])).toFixed(0);
    const growth = this.growth();
    const rate =
      growth === undefined
        ? "too short for a fit"
        : `${growth.service.toFixed(1)} and ${growth.inference.toFixed(1)} MiB per 10,000 cases`;
    return `service ${last?.service.toFixed(0)} MiB (at most ${most("service")}), inference ${last?.inference.toFixed(0)} MiB (at most ${most("inference")}); growth ${rate}`;
  }
}

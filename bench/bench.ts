import { OPTION_TABLE } from "../src/options/table.ts";
import { bounded, FULL, QUICK } from "./effort.ts";
import { benchEngine } from "./engine/bench-engine.ts";
import { openSubject } from "./engine/subject.ts";
import type { BenchOptions } from "./options.ts";
import { describeCommit, describeMachine, describeVersions } from "./report/machine.ts";
import type { Report } from "./report/report.ts";

/** Measures what the options ask for. @param signal ends it between two measurements, with its reason */
export async function bench(
  options: BenchOptions,
  { signal, progress }: { readonly signal: AbortSignal; readonly progress: (text: string) => void },
): Promise<Report> {
  const startedAt = new Date();
  const startMs = performance.now();
  const effort = bounded(options.isFull ? FULL : QUICK, options);
  progress("starting the engine");
  const subject = await openSubject(options.service);
  const closeNow = () => void subject.close();
  signal.addEventListener("abort", closeNow);
  try {
    const engine = await benchEngine({ subject, effort, seed: options.seed, signal, progress });
    const { manifest } = subject.modelPackage;
    return {
      format: "typed-decisions-bench-v1",
      startedAt: startedAt.toISOString(),
      seconds: (performance.now() - startMs) / 1000,
      options: {
        effort: effort.name,
        parts: options.parts,
        seconds: options.seconds ?? null,
        count: options.count ?? null,
        service: changedOptions(options),
      },
      seed: options.seed,
      machine: describeMachine(),
      versions: describeVersions(),
      commit: describeCommit() ?? null,
      model: { id: manifest.id, weightsSha256: manifest.files["model.safetensors"] ?? null },
      engine,
    };
  } finally {
    signal.removeEventListener("abort", closeNow);
    await subject.close();
  }
}

function changedOptions({ service }: BenchOptions): Readonly<Record<string, unknown>> {
  const defaults = new Map<string, unknown>(
    Object.entries(OPTION_TABLE).map(([name, row]) => [name, row.default]),
  );
  return Object.fromEntries(
    Object.entries(service).filter(([name, value]) => String(value) !== String(defaults.get(name))),
  );
}

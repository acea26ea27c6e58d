import { setMaxListeners } from "node:events";
import { bench } from "../../bench/bench.ts";
import type { BenchOptions } from "../../bench/options.ts";
import { terminalProgress } from "../../bench/progress.ts";
import { reportText } from "../../bench/report/terminal.ts";

/** Measures and prints; a signal ends it and every process that it started. */
export async function runBench(
  options: BenchOptions,
  output: { readonly isJson: boolean },
  print: (text: string) => void,
): Promise<void> {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal); // every request under way listens
  const progress = terminalProgress(process.stderr);
  const onSignal = (signal: NodeJS.Signals) => stop.abort(new Error(`stopped by ${signal}`));
  process.once("SIGINT", onSignal);
  process.once("SIGTERM", onSignal);
  try {
    const report = await bench(options, { signal: stop.signal, progress: (text) => progress.show(text) });
    progress.clear();
    print(output.isJson ? JSON.stringify(report, null, 2) : reportText(report));
  } finally {
    progress.clear();
  }
}

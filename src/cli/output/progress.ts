import { type Progress as BatchProgress, barText, progressText } from "../../batch/progress-text.ts";

/** Intervals between updates about a batch. Chosen: frequent on a terminal, rare where lines stay in a log. */
const TERMINAL_MS = 200;
const ELSEWHERE_MS = 10_000;

/** Shows progress as one line on a terminal, and nothing elsewhere. */
export interface Progress {
  show(text: string): void;
  clear(): void;
}

export type ProgressStream = Pick<NodeJS.WriteStream, "isTTY" | "columns"> & { write(text: string): unknown };

export function terminalProgress(stream: ProgressStream): Progress {
  if (!stream.isTTY) return { show: () => {}, clear: () => {} };
  const erase = "\r\u001b[K";
  return {
    show: (text) => stream.write(`${erase}${text.slice(0, stream.columns - 1)}`),
    clear: () => stream.write(erase),
  };
}

/** Shows a batch's progress: one updated line on a terminal, a new line every ten seconds elsewhere. */
export function showProgress(stream: NodeJS.WriteStream, now: () => BatchProgress): { stop(): void } {
  const isTerminal = stream.isTTY;
  const show = () => {
    const text = isTerminal ? barText(now()) : progressText(now());
    stream.write(isTerminal ? `\r\u001b[K${text.slice(0, stream.columns - 1)}` : `decision batch: ${text}\n`);
  };
  const timer = setInterval(show, isTerminal ? TERMINAL_MS : ELSEWHERE_MS);
  timer.unref();
  return {
    stop() {
      clearInterval(timer);
      if (isTerminal) stream.write("\r\u001b[K");
    },
  };
}

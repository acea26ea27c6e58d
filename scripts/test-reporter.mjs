// Reporter for Node's test runner: progress while the files run, then the failures and the runner's own summary.
import path from "node:path";
import { Readable } from "node:stream";
import { spec } from "node:test/reporters";

const FILES = Number(process.env.TEST_FILES);
const isTerminal = process.stdout.isTTY === true;
const CLEAR_LINE = "\r\u001b[K";
/** Milliseconds between two updates of the line on a terminal. */
const REFRESH_MS = 100;

export default async function* report(events) {
  const progress = new Progress();
  const kept = [];
  for await (const event of events) {
    if (isKept(event)) kept.push(event);
    yield progress.textFor(event);
  }
  if (isTerminal) yield CLEAR_LINE;
  yield* Readable.from(kept).compose(new spec());
}

/** Whether an event goes to the runner's own reporter at the end: failures and the summary. */
function isKept({ type, data }) {
  return type === "test:fail" || (type === "test:diagnostic" && data.file === undefined);
}

/** Shows finished files, finished tests and time: one updated line on a terminal, a line per file elsewhere. */
class Progress {
  #files = 0;
  #tests = 0;
  #running = new Set();
  #begin = Date.now();
  #written = 0;

  textFor({ type, data }) {
    switch (type) {
      case "test:dequeue":
        if (isFile(data)) this.#running.add(data.file);
        return this.#refreshed();
      case "test:complete":
        return this.#ended(data);
      case "test:fail":
        return isCause(data) ? this.#above(`FAILED ${place(data)}\n`) : "";
      case "test:pass":
        return data.skip === undefined ? "" : this.#above(`skipped ${place(data)} ${reason(data)}\n`);
      case "test:stdout":
      case "test:stderr":
        return this.#above(data.message);
      default:
        return "";
    }
  }

  #ended(data) {
    if (!isFile(data)) {
      if (data.details?.type !== "suite") this.#tests += 1;
      return this.#refreshed();
    }
    this.#files += 1;
    this.#running.delete(data.file);
    return isTerminal ? this.#refreshed(true) : `${this.#counts()}: ${relative(data.file)}\n`;
  }

  /** Writes a text above the progress line. */
  #above(text) {
    return isTerminal ? `${CLEAR_LINE}${text}${this.#line()}` : text;
  }

  #refreshed(isDue = Date.now() - this.#written > REFRESH_MS) {
    return isTerminal && isDue ? `${CLEAR_LINE}${this.#line()}` : "";
  }

  #line() {
    this.#written = Date.now();
    const [first] = this.#running;
    const line = `${this.#counts()}${first === undefined ? "" : `: ${relative(first)}`}`;
    return line.slice(0, (process.stdout.columns || 80) - 1);
  }

  #counts() {
    const seconds = Math.floor((Date.now() - this.#begin) / 1000);
    const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    return `[${this.#files}/${FILES}] ${time}, ${this.#tests} tests`;
  }
}

/** Whether an event is about a whole test file, whose name is relative on some versions of Node. */
const isFile = ({ name, file }) => file !== undefined && path.resolve(name) === file;

/** Whether a test failed itself, not only a test inside it. */
const isCause = ({ details }) => details?.error?.failureType !== "subtestsFailed";

const place = (data) => `${relative(data.file ?? "")}${isFile(data) ? "" : `: ${data.name}`}`;
const reason = ({ skip }) => (typeof skip === "string" && skip !== "" ? `(${skip})` : "");
/** The source path of a test file, which may be given compiled. */
const relative = (file) =>
  path
    .relative("", file)
    .replace(/^dist./, "")
    .replace(/\.js$/, ".ts");

// Reporter for Node's test runner: a line for each file and failure while the files run, then the failures and the
// runner's own summary.
import path from "node:path";
import { Readable } from "node:stream";
import { spec } from "node:test/reporters";

const FILES = Number(process.env.TEST_FILES);

export default async function* report(events) {
  const beganAt = Date.now();
  const kept = [];
  let [files, tests] = [0, 0];
  for await (const event of events) {
    const { type, data } = event;
    if (type === "test:fail" || (type === "test:diagnostic" && data.file === undefined)) kept.push(event);
    if (type === "test:stdout" || type === "test:stderr") yield data.message;
    // a test whose own tests have failed says nothing new
    if (type === "test:fail" && data.details?.error?.failureType !== "subtestsFailed")
      yield `FAILED ${placeOf(data)}\n`;
    if (type === "test:pass" && data.skip !== undefined) yield `skipped ${placeOf(data)} ${reasonOf(data)}\n`;
    if (type !== "test:complete") continue;
    if (!isFile(data)) {
      if (data.details?.type !== "suite") tests += 1;
      continue;
    }
    files += 1;
    const seconds = Math.floor((Date.now() - beganAt) / 1000);
    const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    yield `[${files}/${FILES}] ${time}, ${tests} tests: ${sourceOf(data.file)}\n`;
  }
  yield* Readable.from(kept).compose(new spec());
}

/** Whether an event is about a whole test file, whose name is relative on some versions of Node. */
const isFile = ({ name, file }) => file !== undefined && path.resolve(name) === file;

const placeOf = (data) => `${sourceOf(data.file ?? "")}${isFile(data) ? "" : `: ${data.name}`}`;
const reasonOf = ({ skip }) => (typeof skip === "string" && skip !== "" ? `(${skip})` : "");
/** The source path of a test file, which may be given compiled. */
const sourceOf = (file) =>
  path
    .relative("", file)
    .replace(/^dist./, "")
    .replace(/\.js$/, ".ts");

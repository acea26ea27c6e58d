// Loaded into the processes of a service under test by NODE_OPTIONS: its inference process then does what
// `--conditions` there says to the first run of a state of more than 100 tokens that it is given. (That process gets no
// other variable.) `holds messages for <folder>` is no fault: it reads a message once there is a file of its type
// (`load`, `score`) in that folder.
const { existsSync } = require("node:fs");
const path = require("node:path");
const threads = require("node:worker_threads");
const { syncBuiltinESMExports } = require("node:module");

let newest;
const { Worker } = threads;
threads.Worker = class extends Worker {
  constructor(...given) {
    super(...given);
    newest = this;
  }
};
syncBuiltinESMExports();

const FAULTS = {
  hang() {
    for (;;);
  },
  abort: () => process.abort(),
  segmentation: () => process.kill(process.pid, "SIGSEGV"),
  exception() {
    throw new Error("planted");
  },
  /** All scores are NaN. */
  nan({ id }) {
    const { send } = process;
    process.send = (reply, ...rest) => {
      if (reply.id === id) reply.scores.fill(Number.NaN);
      return send.call(process, reply, ...rest);
    };
  },
  /** Ends a thread that runs forwards, so that the run never completes. */
  "thread ends"() {
    newest.terminate();
    return "message is lost";
  },
  "out of memory"() {
    const kept = [];
    for (;;) kept.push(new Array(10_000).fill(kept.length));
  },
};

const [, fault] = /--conditions="([^"]+)"/.exec(process.env.NODE_OPTIONS);
const { on } = process;
const isPoison = ({ type, nodes }) =>
  type === "score" && nodes.lengths.some((length, index) => length > 100 && nodes.parents[index] === -1);

process.on = (event, listener) => {
  if (event !== "message") return on.call(process, event, listener);
  return on.call(process, event, (message) => {
    const folder = /^holds messages for (.*)/.exec(fault)?.[1];
    if (folder !== undefined && message.type !== "ping")
      return onceThereIs(path.join(folder, message.type), () => listener(message));
    const consequence = folder === undefined && isPoison(message) ? FAULTS[fault](message) : "none";
    if (consequence !== "message is lost") listener(message);
  });
};

function onceThereIs(file, then) {
  if (existsSync(file)) then();
  else setTimeout(onceThereIs, 10, file, then);
}

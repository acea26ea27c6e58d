// Measures how long large bodies of many shapes block the service's event loop, one at a time and sixty at once.
// `npm run build && node tools/stall.mjs [--rounds 5] [--only <part of a shape's name>] [--flood 60]`
//
// The service runs in this process, the callers in another one. A stall is the longest time between two ticks of a
// one-millisecond timer. Wall-clock time includes other load on the machine, so on Linux the main thread's processor
// time is shown too. Figures are medians of the rounds.
import { fork } from "node:child_process";
import { once } from "node:events";
import { openSync, readSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { REQUEST_LIMITS } from "../dist/src/decisions/request.js";

const { maxBodyBytes: SIZE, maxQuestions, maxCandidates, maxPairs } = REQUEST_LIMITS;
/**
 * Characters per question and per candidate if there are as many as allowed. The rest of the body is names and
 * punctuation.
 */
const [OF_QUESTIONS, OF_CANDIDATES] = [maxQuestions, maxCandidates].map((count) =>
  Math.floor((SIZE - 49_152) / count),
);
const [QUESTION_KB, CANDIDATE_KB] = [OF_QUESTIONS, OF_CANDIDATES].map((size) => Math.round(size / 1000));
const { values: flags } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    only: { type: "string", default: "" },
    flood: { type: "string", default: "60" },
  },
});

const noul = { type: "noul", instructions: "Is it late?" };
const fill = (piece, bytes) => piece.repeat(Math.ceil(bytes / Buffer.byteLength(piece))).slice(0, bytes);
const around = (state) => `{"questions":{"q":${JSON.stringify(noul)}},"state":${state}}`;
/** A state that is an array of as many items as fit. */
const items = (item) => around(`[${fill(`${item},`, SIZE - 200).replace(/,[^,]*$/, "")}]`);
const text = (piece) => around(`"${[...fill(piece, SIZE - 200)].join("")}"`);
const rows = (count, make) => Array.from({ length: count }, (_, at) => make(at));
const members = (count, make) => Object.fromEntries(rows(count, (at) => make(at)));
const distinct = (at, bytes, piece = "go ") => `${at} ${fill(piece, bytes)}`.trim();
const asked = (questions, state = "a") => JSON.stringify({ state, questions });
const score = (criteria, instructions = "Which?") => ({ type: "score", instructions, criteria });

/** Bodies of up to 2 MiB. */
const SHAPES = {
  "small objects": () => items('{"a":1}'),
  "objects of ten members": () => items(`{${rows(10, (at) => `"${at}":null`).join(",")}}`),
  "empty objects": () => items("{}"),
  "empty arrays": () => items("[]"),
  "numbers of one digit": () => items("1"),
  "numbers of twenty digits": () => items("12345678901234567890"),
  floats: () => items("1.25e-7"),
  "one number": () => around(fill("7", SIZE - 200)),
  "empty strings": () => items('""'),
  literals: () => items("null"),
  "nesting of 98 levels": () => items(`${"[".repeat(97)}1${"]".repeat(97)}`),
  "one object": () => around(`{${rows(130_000, (at) => `"n${at}":${at}`).join(",")}}`),
  "white space": () => `{${" ".repeat(SIZE - 2)}}`,
  "white space between items": () => items(`1${" ".repeat(60)}`),
  words: () => text("word and word "),
  "one word": () => text("a"),
  spaces: () => text(" "),
  punctuation: () => text("."),
  CJK: () => around(JSON.stringify("漢".repeat(690_000))),
  emoji: () => around(JSON.stringify("😀".repeat(520_000))),
  accents: () => around(JSON.stringify("e\u0301".repeat(690_000))),
  "newlines, escaped": () => text("\\n"),
  "letters, escaped": () => around(`"${"\\u00e9".repeat(345_000)}"`),
  "JSON in a string": () =>
    asked({ q: noul }, `[${fill('{"a":1},', SIZE / 2).replace(/,[^,]*$/, "")}]`.replace(/^\[\]$/, "[]")),
  "words before one word": () => around(`"${"go ".repeat(1000)}${fill("x", SIZE - 4000)}"`),
  [`${maxQuestions} questions of ${QUESTION_KB} KB`]: () =>
    asked(members(maxQuestions, (at) => [`q${at}`, { ...noul, instructions: distinct(at, OF_QUESTIONS) }])),
  [`${maxQuestions} question names of ${QUESTION_KB} KB`]: () =>
    asked(members(maxQuestions, (at) => [distinct(at, OF_QUESTIONS, "n"), noul])),
  [`${maxCandidates} levels of ${CANDIDATE_KB} KB`]: () =>
    asked({ q: score(rows(maxCandidates, (at) => distinct(at, OF_CANDIDATES))) }),
  [`${maxCandidates} levels of ${CANDIDATE_KB} KB, one word each`]: () =>
    asked({ q: score(rows(maxCandidates, (at) => `${at}${fill("x", OF_CANDIDATES)}`)) }),
  [`${maxCandidates} labels of ${CANDIDATE_KB} KB, which come back`]: () =>
    asked({
      q: {
        type: "choice",
        instructions: "Which?",
        criteria: members(maxCandidates, (at) => [distinct(at, OF_CANDIDATES, "x"), `${at}`]),
      },
    }),
  [`${maxCandidates} candidates of ${CANDIDATE_KB} KB`]: () =>
    JSON.stringify({
      state: "a",
      candidates: rows(maxCandidates, (at) => `${at}${fill("x", OF_CANDIDATES)}`),
    }),
  "unknown members": () =>
    JSON.stringify({ state: "a", questions: { q: noul }, ...members(100_000, (at) => [`m${at}`, 1]) }),
  "60,000 faulty questions": () => asked(members(60_000, (at) => [`q${at}`, { type: "no" }])),
  "levels that are no array": () => asked({ q: score(members(100_000, (at) => [`m${at}`, 1])) }),
  "100,000 levels": () => asked({ q: score(rows(100_000, String)) }),
  "an object as instructions": () =>
    asked({ q: { ...noul, instructions: members(100_000, (at) => [`m${at}`, 1]) } }),
  "an error at the end": () => `${items('{"a":1}').slice(0, -1)}`,
  [`${maxPairs} pairs of 200 tokens`]: () => {
    const question = (q) =>
      score(
        rows(maxCandidates, (at) => `${q} ${at} ${fill("go ", 590)}`),
        `part ${q}`,
      );
    return asked(members(maxPairs / maxCandidates, (q) => [`q${q}`, question(q)]));
  },
};

const again = (bytes, size = SIZE) =>
  Buffer.alloc(Math.floor(size / bytes.length) * bytes.length, Uint8Array.from(bytes));
const LARGE_FRAME = [0x28, 0xb5, 0x2f, 0xfd, 0, 0x68];
const HUFFMAN_BLOCK = [0x44, 0, 0, 0x12, 0, 1, 131, 0x11, 0x11, 3, 0];
const MANY_SEQUENCES = [0x8, 0x41, 0xff, 0x90, 0xdf, 0x54, 0, 1, 52, 0x80];

/** Encoded bodies, which only the dialect of TypeSafe takes. */
const ENCODED = {
  "zstd, empty frames": () => again([...LARGE_FRAME, 1, 0, 0]),
  "zstd, empty blocks": () => Buffer.concat([Buffer.from(LARGE_FRAME), again([0, 0, 0], SIZE - 9)]),
  "zstd, Huffman tables": () => Buffer.concat([Buffer.from(LARGE_FRAME), again(HUFFMAN_BLOCK, SIZE - 9)]),
  "zstd, the longest matches": () => Buffer.from([...LARGE_FRAME, 0x55, 0, 0, ...MANY_SEQUENCES]),
  "gzip, empty members": () => again(gzipSync("")),
  "gzip, zeros": () => gzipSync(Buffer.alloc(500 * SIZE)),
  "gzip, small objects": () => gzipSync(SHAPES["small objects"]()),
};

let schedule;
const buffer = Buffer.alloc(64);

if (process.send) await beCaller();
else await measure();

/** Sends requests from another process, so that sending does not count. */
async function beCaller() {
  const { request, Agent } = await import("node:http");
  const agent = new Agent({ keepAlive: true, maxSockets: 100 });
  const call = (port, method, path, body, coding = "identity") =>
    new Promise((resolve, reject) => {
      const headers = body
        ? {
            "content-type": "application/json",
            "content-length": Buffer.byteLength(body),
            "content-encoding": coding,
          }
        : {};
      const outgoing = request({ port, method, path, agent, headers }, (response) => {
        response.resume().on("end", () => resolve(response.statusCode));
      });
      outgoing.on("error", reject).end(body);
    });
  const post = (port, name) => {
    const encoded = ENCODED[name]?.();
    if (encoded) return () => call(port, "POST", "/typesafe/v1/systemone", encoded, name.split(",")[0]);
    const body = Buffer.from(SHAPES[name]());
    return () => call(port, "POST", body.includes('"candidates"') ? "/v1/rank" : "/v1/systemone", body);
  };
  process.on("message", async (order) => {
    if (order === "go") return;
    const { port, name, count, watches } = order;
    const send = post(port, name);
    process.send("ready");
    await once(process, "message");
    let isOver = false;
    const waits = [];
    const watch = async () => {
      while (!isOver) {
        const start = performance.now();
        await call(port, "GET", "/health");
        waits.push(performance.now() - start);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    const watching = watches ? watch() : undefined;
    const statuses = await Promise.all(Array.from({ length: count }, send));
    isOver = true;
    await watching;
    process.send({ statuses, longestHealth: Math.max(0, ...waits) });
  });
}

/** The longest stall so far, in milliseconds: processor time of the main thread, and wall-clock time. */
function watchLoop() {
  const longest = { own: 0, wall: 0 };
  let [own, wall] = [ownMs(), performance.now()];
  const timer = setInterval(() => {
    const now = [ownMs(), performance.now()];
    longest.own = Math.max(longest.own, now[0] - own);
    longest.wall = Math.max(longest.wall, now[1] - wall);
    [own, wall] = now;
  }, 1);
  return {
    end() {
      clearInterval(timer);
      return longest;
    },
  };
}

/** Processor time of the main thread; 0 if unknown. */
function ownMs() {
  try {
    schedule ??= openSync(`/proc/self/task/${process.pid}/schedstat`);
    const length = readSync(schedule, buffer, 0, buffer.length, 0);
    return Number(buffer.toString("latin1", 0, length).split(" ")[0]) / 1e6;
  } catch {
    return 0;
  }
}

async function measure() {
  const [{ createApp }, { createEngine }, { resolveOptions }] = await Promise.all(
    ["app", "engine", "options/resolve"].map((file) => import(`../dist/src/${file}.js`)),
  );
  const silent = { debug() {}, info() {}, warn: console.error, error: console.error };
  const options = resolveOptions({ "queue-size": "1000" });
  const engine = await createEngine(options, console.error);
  await engine.start();
  const app = await createApp(engine, { ...options, log: silent, port: 0 });
  await app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = app.server.address();
  const caller = fork(fileURLToPath(import.meta.url), { serialization: "advanced" });
  const ask = async (order) => {
    caller.send({ port, ...order });
    await once(caller, "message");
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 100));
    const start = performance.now();
    const watch = watchLoop();
    let top = 0;
    const timer = setInterval(() => {
      top = Math.max(top, process.memoryUsage.rss());
    }, 20);
    caller.send("go");
    const [{ statuses, longestHealth }] = await once(caller, "message");
    const ms = performance.now() - start;
    clearInterval(timer);
    return { ...watch.end(), ms, statuses, longestHealth, rss: top / 2 ** 20 };
  };
  const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
  const print = (name, runs) => {
    const of = (key) => runs.map((run) => run[key]);
    const statuses = [...new Set(runs.flatMap((run) => run.statuses))].join(",");
    const [own, wall, ms] = ["own", "wall", "ms"].map((key) => median(of(key)).toFixed(1).padStart(7));
    console.log(`${name.padEnd(36)} own ${own} ms, wall ${wall} ms of ${ms} ms, ${statuses}`);
  };
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const idle = watchLoop();
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const { own, wall } = idle.end();
  console.log(`idle: own ${own.toFixed(1)} ms, wall ${wall.toFixed(1)} ms`);
  for (const name of Object.keys({ ...SHAPES, ...ENCODED }).filter((shape) => shape.includes(flags.only))) {
    const runs = [];
    for (let round = 0; round < Number(flags.rounds); round++) runs.push(await ask({ name, count: 1 }));
    print(name, runs);
  }
  if (Number(flags.flood) > 0) {
    for (const name of ["small objects", "objects of ten members", "words"]) {
      const { own, wall, ms, statuses, longestHealth, rss } = await ask({
        name,
        count: Number(flags.flood),
        watches: true,
      });
      console.log(
        `${flags.flood} at once: ${name}: own ${own.toFixed(0)} ms, wall ${wall.toFixed(0)} ms, longest /health ${longestHealth.toFixed(0)} ms, ` +
          `all answered in ${ms.toFixed(0)} ms, at most ${rss.toFixed(0)} MiB resident (${[...new Set(statuses)]})`,
      );
    }
  }
  caller.kill();
  await app.close();
  await engine.close();
}

import {
  type Family,
  type HostileCase,
  head,
  JSON_LINES,
  pick,
  type Random,
  SMALL,
  SMALL_RANK,
} from "./cases.ts";
import type { Step } from "./exchange.ts";
import { MARK } from "./judge.ts";

const TARGET = "/v1/rank";
const RANK = { method: "POST", target: TARGET } as const;
const LENGTH = Buffer.byteLength(SMALL_RANK);
/** The request that an attacker tries to smuggle. */
const SECOND = head("GET", "/v1/models", [`X-Mark: ${MARK}`]);

/** A POST with these header lines besides the media type, and this rest. */
const framed = (lines: readonly string[], rest: string) =>
  `${head("POST", TARGET, [...JSON_LINES, ...lines])}${rest}`;
const chunk = (text: string, size = Buffer.byteLength(text).toString(16)) => `${size}\r\n${text}\r\n`;
const CHUNKED = "Transfer-Encoding: chunked";

function one(
  family: string,
  steps: readonly Step[],
  statuses: readonly number[],
  answers: readonly [number, number] = [1, 1],
): HostileCase {
  return { family, steps, requests: [{ ...RANK, statuses }], answers };
}

/** Invalid lengths. The connection must end after one answer, and the following bytes must not be read as a request. */
const BROKEN_LENGTHS = [
  "-1",
  "+5",
  "0x5",
  "5,5",
  "5, 6",
  "5 5",
  "1e1",
  "",
  "5;q",
  "\u00b2",
  "99999999999999999999999",
  "\t",
];
const BROKEN_SIZES = ["g", "-1", "+5", "0x5", "", ";", "1".repeat(17), "5 5", "\u0665", "5\t\t;"];

/** A request with a few bytes changed. */
function mutated({ below }: Random): Buffer {
  const whole = Buffer.from(
    pick({ below } as Random, [
      framed([`Content-Length: ${LENGTH}`], SMALL_RANK),
      framed([CHUNKED], `${chunk(SMALL_RANK)}0\r\n\r\n`),
      head("GET", "/health"),
      SECOND,
    ]),
  );
  for (let left = 1 + below(5); left > 0; left -= 1) whole[below(whole.length)] = below(256);
  return whole;
}

export const framingCases: Readonly<Record<string, Family>> = {
  "both a length and chunks": (random) => {
    const lines = pick(random, [
      [CHUNKED, `Content-Length: ${LENGTH}`],
      [`Content-Length: ${LENGTH}`, CHUNKED],
      ["Content-Length: 0", "transfer-encoding:chunked"],
    ]);
    return one(
      "both a length and chunks",
      [framed(lines, `${chunk(SMALL_RANK)}0\r\n\r\n${SECOND}`), "end"],
      [400],
    );
  },
  "two lengths": (random) => {
    const other = pick(random, [LENGTH, 0, LENGTH + 1]);
    return one(
      "two lengths",
      [framed([`Content-Length: ${LENGTH}`, `Content-Length: ${other}`], SMALL_RANK + SECOND), "end"],
      [400],
    );
  },
  "a broken length": (random) =>
    one(
      "a broken length",
      [framed([`Content-Length: ${pick(random, BROKEN_LENGTHS)}`], SMALL_RANK + SECOND), "end"],
      [400],
    ),
  "a length that is too short": (random) => {
    const less = 1 + random.below(LENGTH - 1);
    return {
      family: "a length that is too short",
      steps: [framed([`Content-Length: ${less}`], SMALL_RANK), "end"],
      requests: [{ ...RANK, statuses: [422, 400] }, { statuses: [400] }],
      answers: [0, 2],
    };
  },
  "a length that is too long": (random) =>
    one(
      "a length that is too long",
      [framed([`Content-Length: ${LENGTH + 1 + random.below(1000)}`], SMALL_RANK), "end"],
      [400],
      [0, 1],
    ),
  "another transfer coding": (random) => {
    const coding = pick(random, [
      "identity",
      "gzip",
      "xchunked",
      "chunked, gzip",
      "chunked, chunked",
      "\u000bchunked",
      "chunked;x=y",
      '"chunked"',
      "cow",
    ]);
    return one(
      "another transfer coding",
      [framed([`Transfer-Encoding: ${coding}`], `${chunk(SMALL_RANK)}0\r\n\r\n`), "end"],
      [400, 422, 501],
    );
  },
  chunks: (random) => {
    const parts: string[] = [];
    for (let at = 0; at < SMALL_RANK.length; ) {
      const end = at + 1 + random.below(20);
      const part = SMALL_RANK.slice(at, end);
      const size = Buffer.byteLength(part).toString(16);
      parts.push(
        chunk(part, pick(random, [size, size.toUpperCase(), `000${size}`, `${size};a=b`, `${size};a="b"`])),
      );
      at = end;
    }
    const trailer = pick(random, ["", "X-Trailer: a\r\n", `Content-Length: 5\r\nAuthorization: ${MARK}\r\n`]);
    return one(
      "chunks",
      [framed([CHUNKED], `${parts.join("")}0\r\n${trailer}\r\n`)],
      trailer.startsWith("Content-Length") ? [200, 400] : [200],
    );
  },
  "a broken chunk": (random) => {
    const size = pick(random, BROKEN_SIZES);
    return one(
      "a broken chunk",
      [framed([CHUNKED], `${chunk(SMALL_RANK, size)}0\r\n\r\n${SECOND}`), "end"],
      [400],
    );
  },
  "a chunk of another size than it says": (random) => {
    const size = (LENGTH + pick(random, [-3, -1, 1, 3])).toString(16);
    return one(
      "a chunk of another size than it says",
      [framed([CHUNKED], `${chunk(SMALL_RANK, size)}0\r\n\r\n`), "end"],
      [400],
      [0, 1],
    );
  },
  "chunk extensions": (random) => {
    const extension = `;a=${"b".repeat(pick(random, [100, 5_000, 20_000, 100_000]))}`;
    return one(
      "chunk extensions",
      [framed([CHUNKED], `${chunk(SMALL_RANK, `${LENGTH.toString(16)}${extension}`)}0\r\n\r\n`), "end"],
      [200, 400, 413],
      [0, 1],
    );
  },
  "many tiny chunks": () =>
    one(
      "many tiny chunks",
      [framed([CHUNKED], `${[...SMALL_RANK].map((letter) => chunk(letter)).join("")}0\r\n\r\n`)],
      [200],
    ),
  "a line end that is none": (random) => {
    const text = framed([`Content-Length: ${LENGTH}`], SMALL_RANK);
    const broken = pick(random, [
      text.replace("\r\nHost", "\rHost"),
      text.replace("Host: localhost", "Host: localhost\rX: y"),
      text.replace("Host: localhost", "Host: localhost\u0000y"),
      text.replace("Host: localhost", "Ho\u0000st: x"),
      text.replace("Host:", "Host :"),
      text.replace("Host:", ": x\r\nHost:"),
      text.replace("Host: localhost", "Host: localhost\r\nno colon"),
      text.replace("Host: localhost", `Host: localhost\r\nX: \u007f${MARK}`),
    ]);
    return one("a line end that is none", [broken + SECOND, "end"], [400]);
  },
  "bytes that are no HTTP": ({ below }) => {
    const bytes = Buffer.from(Array.from({ length: 1 + below(300) }, () => below(256)));
    const hello = Buffer.from("16030100c8010000c40303", "hex");
    return {
      family: "bytes that are no HTTP",
      steps: [below(4) === 0 ? hello : bytes, "end"],
      requests: [{ statuses: [400] }],
      answers: [0, 1],
    };
  },
  "a request with changed bytes": (random) => ({
    family: "a request with changed bytes",
    steps: [mutated(random), "end"],
    requests: [{}, {}, {}],
    answers: [0, 3],
  }),
  "a pipeline": (random) => {
    const count = 2 + random.below(18);
    const requests = Array.from({ length: count }, (_, at) => {
      const requestId = `p${at}.${random.below(1e6)}`;
      const kind = random.below(4);
      const lines = [`X-Request-Id: ${requestId}`];
      if (kind === 0)
        return {
          text: head("GET", "/health", lines),
          asked: { method: "GET", target: "/health", statuses: [200], requestId },
        };
      if (kind === 1)
        return {
          text: head("HEAD", "/v1/models", lines),
          asked: { method: "HEAD", target: "/v1/models", statuses: [200], requestId },
        };
      if (kind === 2)
        return {
          text: head("GET", "/nothing", lines),
          asked: { method: "GET", target: "/nothing", statuses: [404], requestId },
        };
      const body = pick(random, [SMALL_RANK, "{}", "["]);
      const text = `${head("POST", TARGET, [...JSON_LINES, ...lines, `Content-Length: ${body.length}`])}${body}`;
      return { text, asked: { ...RANK, statuses: [body === SMALL_RANK ? 200 : 422], requestId } };
    });
    return {
      family: "a pipeline",
      steps: [requests.map(({ text }) => text).join("")],
      requests: requests.map(({ asked }) => asked),
      answers: [count, count],
    };
  },
  "a pipeline with a broken request": (random) => {
    const count = 1 + random.below(5);
    const whole = head("GET", "/v1/models").repeat(count);
    const asked = { method: "GET", target: "/v1/models", statuses: [200] };
    return {
      family: "a pipeline with a broken request",
      steps: [
        whole +
          pick(random, ["\u0000\u0001", "GET\r\n\r\n", framed([CHUNKED, "Content-Length: 1"], "x")]) +
          SECOND,
        "end",
      ],
      requests: [...Array.from({ length: count }, () => asked), { statuses: [400] }],
      answers: [0, count + 1],
    };
  },
  "a side that is closed": (random) => {
    const text = framed([`Content-Length: ${LENGTH}`], SMALL_RANK);
    return one(
      "a side that is closed",
      [text.slice(0, 1 + random.below(text.length)), "end"],
      [200, 400],
      [0, 1],
    );
  },
  "a caller that leaves": (random) => {
    const text = framed([`Content-Length: ${Buffer.byteLength(SMALL)}`], SMALL).replace(
      "/v1/rank",
      "/v1/systemone",
    );
    return {
      family: "a caller that leaves",
      steps: [text.slice(0, 1 + random.below(text.length)), { pauseMs: random.below(10) }, "reset"],
      requests: [{ method: "POST", target: "/v1/systemone" }],
      answers: [0, 1],
      mayBreakOff: true,
    };
  },
  "a slow request": (random) => {
    const text = framed([`Content-Length: ${LENGTH}`], SMALL_RANK);
    const cuts = Array.from({ length: 4 }, () => random.below(text.length)).sort((a, b) => a - b);
    const steps = [...cuts, text.length].flatMap((end, at): Step[] => [
      text.slice(cuts[at - 1] ?? 0, end),
      { pauseMs: random.below(30) },
    ]);
    return one("a slow request", steps, [200]);
  },
};

/** Families that wait for a timeout of the service. There are few of them, many run at a time. */
export const slowCases: Readonly<Record<string, Family>> = {
  "a body that never ends": (random) => ({
    ...one(
      "a body that never ends",
      [
        framed([pick(random, [`Content-Length: ${LENGTH}`, CHUNKED])], "").slice(0),
        pick(random, ["", "{", "5\r\n{"]),
      ],
      [400, 408, 504],
      [0, 1],
    ),
    isSlow: true,
  }),
  "headers that never end": (random) => ({
    family: "headers that never end",
    steps: [
      pick(random, [
        "GET /health HTTP/1.1\r\n",
        "GET /health HTTP/1.1\r\nHost: localhost\r\nX:",
        "P",
        "POST /v1/rank HTTP/1.1\r\nHost: localhost\r\n",
      ]),
    ],
    requests: [{ statuses: [408] }],
    answers: [0, 1],
    isSlow: true,
  }),
};

// Hostile requests as bytes, in families, with the answers that are allowed.
import { REQUEST_LIMITS } from "../../dist/src/decisions/request.js";

const words = (text) => text.split(/[ \n]+/);
const list = (length, make) => Array.from({ length }, (_, at) => make(at));
const fromHex = (hex) => Buffer.from(hex.replaceAll(" ", ""), "hex");

/** Marker word for values. No error may repeat it. */
export const MARK = "xyzzymark";
/** Valid requests, small enough to be sent thousands of times. */
export const SMALL = '{"state":"late","questions":{"q":{"type":"noul","instructions":"Late?"}}}';
const SMALL_RANK = '{"state":"late","candidates":["a","b"]}';
const LENGTH = SMALL_RANK.length;
export const JSON_LINE = "Content-Type: application/json";
const CHUNKED = "Transfer-Encoding: chunked";
const PATHS = words(
  "/v1/systemone /v1/rank /v1/models /health /ready /docs /redoc /openapi.json /openapi.typed.json /nothing /",
);

export const head = (method, target, lines = []) =>
  `${method} ${target} HTTP/1.1\r\nHost: localhost\r\n${lines.map((line) => `${line}\r\n`).join("")}\r\n`;
const get = (...lines) => head("GET", "/health", lines);
/** The head of a ranking with these lines besides the media type, and what follows it. */
const rank = (lines, rest = "") => head("POST", "/v1/rank", [JSON_LINE, ...lines]) + rest;
const sized = (length, rest = SMALL_RANK) => rank([`Content-Length: ${length}`], rest);
const chunk = (text, size = Buffer.byteLength(text).toString(16)) => `${size}\r\n${text}\r\n`;
const chunked = (chunks) => rank([CHUNKED], `${chunks}0\r\n\r\n`);
/** The request that an attacker tries to smuggle. */
const SECOND = head("GET", "/v1/models", [`X-Mark: ${MARK}`]);
/** A ranking with this JSON text as its state. */
const withState = (json) => `{"state":${json},"candidates":["a","b"]}`;

const BROKEN_UTF8 = words(
  "80 c080 c1bf e08080 eda080 edbfbf f0808080 f4908080 f5808080 fe ff c3 e282 f09f92",
).map(fromHex);
const ENCODED = [
  Buffer.from(SMALL, "utf16le"),
  Buffer.from(`\ufeff${SMALL}`, "utf16le"),
  Buffer.from(`\ufeff${SMALL}`),
  Buffer.from(`${SMALL} `, "utf16le").swap16(),
];
const BAD_NUMBERS = words("1e400 -1e309 1e99999 01 +1 .5 1. 1e 0x10 NaN Infinity - --1 1_0 1,0");
const ODD_NUMBERS = words(
  "-0 -0.0 1e-400 0e99999 5e-324 1.7976931348623157e308 1E+2 9007199254740993",
).concat("123456789".repeat(20));
const LONE = words("\\ud800 \\udfff \\ud800x \\ude00\\ud83d \\ud83d\\u0041 \\uD83D\\uD83D\\uDE00");
const NOT_JSON = words(
  `{ } []] {}{} {'a':1} {"a":1,} {a:1} {"a"1} /**/{} {"state":"x"}// nul {"a":"\\x41"} "\\u12" undefined <a/> null "x"`,
).concat(...["", " ", "\u00a0{}", '{"a":"\u0001"}', "\ufeff{}"]);
const ODD_TEXTS = words(
  "\\u0000 \\u202e\\u2066 \\u200b \\ud83d\\ude00 \\n\\r\\t\\u2028 [MASK][CLS] %s%n{{7*7}}$(jndi) ';--",
).concat(...["\u{1f468}\u200d\u{1f469}", "\uffff", "e\u0301".repeat(50), "a".repeat(3000), "#".repeat(500)]);
const ODD_NAMES = words(
  "__proto__ constructor prototype toString hasOwnProperty 0 -1 1e3 length then \\u0000 \ud83d\ude00",
).concat(" ", "a".repeat(300));
const TWICE = [
  ["a", "a"],
  ["a", "\\u0061"],
  ["__proto__", "__proto__"],
];
const { maxQuestions, maxCandidates } = REQUEST_LIMITS;
const TOO_MANY = [
  `{"state":"x","questions":{${list(maxQuestions + 1, (at) => `"q${at}":{"type":"noul","instructions":"x"}`)}}}`,
  `{"state":"x","candidates":[${list(maxCandidates + 1000, (at) => `"${at}"`)}]}`,
];

/** A JSON value of arrays and objects, nested to this depth. */
function nested(random, depth) {
  const opens = list(depth, () => random.pick(["[", '{"a":']));
  const closes = opens.map((open) => (open === "[" ? "]" : "}")).reverse();
  return `${opens.join("")}1${closes.join("")}`;
}

function oddNames(random) {
  const name = random.pick(ODD_NAMES);
  const question = '{"type":"choice","instructions":"x","criteria":{"a":"x","b":"y"}}';
  return random.pick([
    `{"state":{"${name}":1},"questions":{"${name}":${question}}}`,
    `{"state":"x","questions":{"${name}":${question.replace('"a"', `"${name}"`)}}}`,
  ]);
}

/** Bodies by family: the allowed statuses, the bodies or what makes one, and the path if it may not be another. */
const BODIES = {
  "broken UTF-8": [
    [422],
    (random) => Buffer.concat([fromHex("7b"), random.pick(BROKEN_UTF8), Buffer.from(SMALL)]),
  ],
  "broken UTF-8 in a text": [
    [422],
    (random) =>
      Buffer.concat([
        Buffer.from('{"state":"l'),
        random.pick(BROKEN_UTF8),
        Buffer.from(SMALL_RANK.slice(11)),
      ]),
    "/v1/rank",
  ],
  "another encoding": [[422], ENCODED],
  "deep JSON": [[200], (random) => withState(nested(random, random.pick([2, 50, 90, 97]))), "/v1/rank"],
  "JSON that is too deep": [
    [422],
    (random) => withState(nested(random, random.pick([101, 102, 500, 5_000, 100_000]))),
  ],
  "deep JSON without an end": [
    [422],
    (random) => random.pick(["[", '{"a":', '{"state":[']).repeat(random.between(1, 50_000)),
  ],
  "wide JSON": [
    [200, 422],
    (random) =>
      withState(
        random.pick([
          `[${list(1_000, String)}]`,
          `{${list(5_000, (at) => `"a${at}":0`)}}`,
          `"${"a ".repeat(5_000)}"`,
        ]),
      ),
    "/v1/rank",
  ],
  "many questions or candidates": [[422], TOO_MANY],
  "a number that JSON or float64 does not have": [[422], BAD_NUMBERS.map(withState)],
  "an odd number": [[200], ODD_NUMBERS.map(withState), "/v1/rank"],
  "a name twice": [
    [422],
    TWICE.flatMap(([one, two]) => [
      withState(`{"${one}":1,"${two}":2}`),
      withState(`[{"${one}":1,"${two}":2}]`),
      `{"st\\u0061te":1,${SMALL.slice(1)}`,
    ]),
  ],
  "a lone surrogate": [[422], LONE.flatMap((text) => [withState(`"${text}"`), withState(`{"${text}":1}`)])],
  "an odd text": [[200], ODD_TEXTS.map((text) => withState(`"x ${text} ${MARK}"`)), "/v1/rank"],
  "an odd name": [[200], oddNames, "/v1/systemone"],
  "an unknown member": [[422], ODD_NAMES.map((name) => `{"${name}":1,${SMALL.slice(1)}`), "/v1/systemone"],
  "no JSON": [[422], NOT_JSON],
  "cut JSON": [[422], (random) => SMALL.slice(0, random.between(1, SMALL.length - 1))],
  "a body too large": [[413], (random) => " ".repeat(random.between(2_097_153, 2_098_000))],
};

const TRAVERSALS =
  words(`/docs/static/../../package.json /docs/static/..%2f..%2fpackage.json /docs/static/..%5c..%5cpackage.json
  /docs/static/%2e%2e/%2e%2e/etc/passwd /docs/static/....//....//etc/passwd /docs/static/%252e%252e%252fetc%252fpasswd
  /docs/static//etc/passwd /docs/static/%00 /redoc/../../etc/passwd /../../../../etc/passwd /..\\..\\etc\\passwd
  //etc/passwd /v1/../../etc/passwd /%2e%2e/%2e%2e/etc/passwd /docs/static/..%c0%af..%c0%afetc/passwd /proc/self/environ`);
const ODD_TARGETS = words(
  "/health%00 /health% /health%zz /%ff%fe /health/ //health /HEALTH /./health /health/../health /health;a=b /v1/rank?a=b",
).concat(
  ...words("/v1/rank#x /\u00e9 /%c3%a9 /v1%2frank /health?__proto__[x]=1"),
  ...[`/${"a".repeat(9_000)}`, `/?${"a=b&".repeat(2_000)}`],
);
const METHODS = words("DELETE PUT PATCH OPTIONS TRACE PROPFIND LOCK M-SEARCH QUERY PURGE");
const NO_METHODS = words("get G\u00cbT GETT POSTPOST \u0000GET").concat("GE T", "", "G".repeat(5000));
const VERSIONS = words("HTTP/2.0 HTTP/1.2 HTTP/0.9 HTTP/9.9 HTTP/1.10 HTTP/1 http/1.1 HTCPCP/1.0").concat(
  "HTTP/1.1 ",
  "",
);
const BROKEN_LENGTHS = words("-1 +5 0x5 5,5 1e1 5;q \u00b2 99999999999999999999999").concat(
  "5, 6",
  "5 5",
  "",
  "\t",
);
const BROKEN_SIZES = words("g -1 +5 0x5 ; 11111111111111111 \u0665").concat("", "5 5", "5\t\t;");
const CODINGS = words('identity gzip xchunked \u000bchunked chunked;x=y "chunked" cow').concat(
  "chunked, gzip",
  "chunked, chunked",
);
const ADDRESSES = ["evil.example", "127.0.0.1:1", "a:b@c", "[::1]"];
const WHOLE = sized(LENGTH);
const BROKEN_LINES = [
  WHOLE.replace("\r\nHost", "\rHost"),
  WHOLE.replace("Host:", "Host :"),
  WHOLE.replace("Host:", ": x\r\nHost:"),
  ...[
    "Host: localhost\rX: y",
    "Host: localhost\u0000y",
    "Ho\u0000st: x",
    "Host: localhost\r\nno colon",
    `Host: localhost\r\nX: \u007f${MARK}`,
  ].map((line) => WHOLE.replace("Host: localhost", line)),
];

/** Whole texts by family that get one answer with one of these statuses, after which nothing more is read. */
const REFUSED = {
  "both a length and chunks": [
    [400],
    [
      [CHUNKED, `Content-Length: ${LENGTH}`],
      [`Content-Length: ${LENGTH}`, CHUNKED],
      ["Content-Length: 0", "transfer-encoding:chunked"],
    ].map((lines) => rank(lines, `${chunk(SMALL_RANK)}0\r\n\r\n`)),
  ],
  "two lengths": [
    [400],
    [LENGTH, 0, LENGTH + 1].map((other) =>
      rank([`Content-Length: ${LENGTH}`, `Content-Length: ${other}`], SMALL_RANK),
    ),
  ],
  "a broken length": [[400], BROKEN_LENGTHS.map((length) => sized(length))],
  "a broken chunk": [[400], BROKEN_SIZES.map((size) => chunked(chunk(SMALL_RANK, size)))],
  "another transfer coding": [
    [400, 422, 501],
    CODINGS.map((coding) => rank([`Transfer-Encoding: ${coding}`], `${chunk(SMALL_RANK)}0\r\n\r\n`)),
    false,
  ],
  "a line end that is none": [[400], BROKEN_LINES],
  "no method": [[400], NO_METHODS.map((method) => head(method, "/health"))],
  "another version": [[400], VERSIONS.map((version) => head("GET", "/health").replace("HTTP/1.1", version))],
  "the preface of HTTP/2": [[400], ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]],
  CONNECT: [
    [400, 405],
    ["example.org:443", "/health", "127.0.0.1:22"].map((target) => head("CONNECT", target)),
    false,
  ],
  "no host, or two": [
    [400],
    ["", "Host: localhost\r\nHost: b\r\n"].map((host) => `GET /health HTTP/1.1\r\n${host}\r\n`),
    false,
  ],
  "headers that are too long": [
    [431],
    [get(`X: ${MARK.repeat(4_000)}`), get(...list(3_000, (at) => `X-${at}: y`))],
  ],
};

const MEDIA_TYPES = words(
  "text/plain application/xml multipart/form-data;boundary=x application/jsonx",
).concat(
  ...["latin1", "utf-16"].map((charset) => `application/json; charset=${charset}`),
  ...["application/json, text/plain", "", MARK],
);
const CODED = ["gzip", "br", "deflate", "gzip, identity", MARK];
const PROXIES = [
  ["X-HTTP-Method-Override: DELETE"],
  ["X-Forwarded-For: 127.0.0.1", "X-Forwarded-Host: evil"],
  ["X-Original-URL: /nothing", "X-Rewrite-URL: /nothing"],
  ["Range: bytes=0-1"],
  ["If-None-Match: *"],
  ["If-Modified-Since: Thu, 01 Jan 2099 00:00:00 GMT"],
  ["Accept: text/plain"],
  ["Accept-Encoding: gzip"],
  ["Origin: http://evil", "Access-Control-Request-Method: POST"],
  ["TE: trailers"],
  ["Cookie: a=b"],
  ["Authorization: Bearer x"],
];
const UPGRADES = [
  ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"],
  [
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version: 13",
  ],
];

/** Header lines of a valid ranking by family, with the allowed statuses. */
const HEADERS = {
  "another media type": [
    [422],
    [[], [JSON_LINE, JSON_LINE], ...MEDIA_TYPES.map((type) => [`Content-Type: ${type}`])],
  ],
  "an encoded body": [[422], CODED.map((coding) => [JSON_LINE, `Content-Encoding: ${coding}`])],
  "headers of proxies and callers": [[200], PROXIES.map((lines) => [JSON_LINE, ...lines])],
  "an upgrade": [[200], UPGRADES.map((lines) => [JSON_LINE, ...lines])],
  "an expectation": [[200], ["100-continue", "100-Continue"].map((value) => [JSON_LINE, `Expect: ${value}`])],
  "an expectation that is none": [
    [200, 417],
    ["200-ok", "", "100-continue, x", MARK].map((value) => [JSON_LINE, `Expect: ${value}`]),
  ],
};

const RANK = { method: "POST", target: "/v1/rank" };
/** A case of one request. @param answers minimum and maximum of their number */
const one = (steps, asked, answers = [1, 1]) => ({ steps, requests: [asked], answers });

function post(target, body, statuses, lines = [JSON_LINE]) {
  const bytes = Buffer.from(body);
  return one([head("POST", target, [...lines, `Content-Length: ${bytes.length}`]), bytes], {
    method: "POST",
    target,
    statuses,
  });
}

/** One request of a pipeline: its bytes, and the answer that is asked for. */
function pipelined(random, at) {
  const requestId = `p${at}.${random.between(0, 1e6)}`;
  const lines = [`X-Request-Id: ${requestId}`];
  const [method, target, status, body] = random.pick([
    ["GET", "/health", 200],
    ["HEAD", "/v1/models", 200],
    ["GET", "/nothing", 404],
    ["POST", "/v1/rank", 200, SMALL_RANK],
    ["POST", "/v1/rank", 422, "{}"],
    ["POST", "/v1/rank", 422, "["],
  ]);
  if (body !== undefined) lines.push(JSON_LINE, `Content-Length: ${body.length}`);
  return {
    text: head(method, target, lines) + (body ?? ""),
    asked: { method, target, statuses: [status], requestId },
  };
}

/** A request with a few bytes changed. */
function mutated(random) {
  const bytes = Buffer.from(random.pick([WHOLE, chunked(chunk(SMALL_RANK)), get(), SECOND]));
  for (let left = random.between(1, 5); left > 0; left -= 1)
    bytes[random.between(0, bytes.length - 1)] = random.between(0, 255);
  return bytes;
}

const cutIn = (random, text) => random.between(1, text.length);

/** Functions by family that make a case: what the client does, what is known about its requests, and the answers. */
export const FAMILIES = {
  ...mapValues(
    BODIES,
    ([statuses, bodies, target]) =>
      (random) =>
        post(
          target ?? random.pick(["/v1/systemone", "/v1/rank"]),
          typeof bodies === "function" ? bodies(random) : random.pick(bodies),
          statuses,
        ),
  ),
  ...mapValues(
    REFUSED,
    ([statuses, texts, hasSecond = true]) =>
      (random) =>
        one([random.pick(texts) + (hasSecond ? SECOND : ""), "end"], { statuses }),
  ),
  ...mapValues(
    HEADERS,
    ([statuses, all]) =>
      (random) =>
        post("/v1/rank", SMALL_RANK, statuses, random.pick(all)),
  ),
  "a length that is too short": (random) => ({
    steps: [sized(random.between(1, LENGTH - 1)), "end"],
    requests: [{ ...RANK, statuses: [422, 400] }, { statuses: [400] }],
    answers: [0, 2],
  }),
  "a length that is too long": (random) =>
    one([sized(LENGTH + random.between(1, 1000)), "end"], { ...RANK, statuses: [400] }, [0, 1]),
  chunks: (random) => {
    const parts = SMALL_RANK.match(/.{1,7}/g).map((part) => {
      const size = part.length.toString(16);
      return chunk(part, random.pick([size, `000${size}`, `${size};a=b`, `${size};a="b"`]));
    });
    const trailer = random.pick(["", "X-Trailer: a\r\n"]);
    return one([rank([CHUNKED], `${parts.join("")}0\r\n${trailer}\r\n`)], { ...RANK, statuses: [200] });
  },
  "a trailer that would change the request": () =>
    one([rank([CHUNKED], `${chunk(SMALL_RANK)}0\r\nContent-Length: 5\r\nAuthorization: ${MARK}\r\n\r\n`)], {
      ...RANK,
      statuses: [200, 400],
    }),
  "a chunk of another size than it says": (random) =>
    one(
      [chunked(chunk(SMALL_RANK, (LENGTH + random.pick([-3, -1, 1, 3])).toString(16))), "end"],
      { ...RANK, statuses: [400] },
      [0, 1],
    ),
  "chunk extensions": (random) => {
    const size = `${LENGTH.toString(16)};a=${"b".repeat(random.pick([100, 5_000, 20_000, 100_000]))}`;
    return one([chunked(chunk(SMALL_RANK, size)), "end"], { ...RANK, statuses: [200, 400, 413] }, [0, 1]);
  },
  "many tiny chunks": () =>
    one([chunked([...SMALL_RANK].map((letter) => chunk(letter)).join(""))], { ...RANK, statuses: [200] }),
  "bytes that are no HTTP": (random) => {
    const hello = fromHex("16030100c8010000c40303");
    return one(
      [random.pick([hello, Buffer.from(list(random.between(1, 300), () => random.between(0, 255)))]), "end"],
      { statuses: [400] },
      [0, 1],
    );
  },
  "a request with changed bytes": (random) => ({
    steps: [mutated(random), "end"],
    requests: [{}, {}, {}],
    answers: [0, 3],
  }),
  "a pipeline": (random) => {
    const all = list(random.between(2, 19), (at) => pipelined(random, at));
    return {
      steps: [all.map(({ text }) => text).join("")],
      requests: all.map(({ asked }) => asked),
      answers: [all.length, all.length],
    };
  },
  "a pipeline with a broken request": (random) => {
    const count = random.between(1, 5);
    const broken = random.pick(["\u0000\u0001", "GET\r\n\r\n", rank([CHUNKED, "Content-Length: 1"], "x")]);
    const asked = { method: "GET", target: "/v1/models", statuses: [200] };
    return {
      steps: [head("GET", "/v1/models").repeat(count) + broken + SECOND, "end"],
      requests: [...list(count, () => asked), { statuses: [400] }],
      answers: [0, count + 1],
    };
  },
  "a side that is closed": (random) =>
    one([WHOLE.slice(0, cutIn(random, WHOLE)), "end"], { ...RANK, statuses: [200, 400] }, [0, 1]),
  "a caller that leaves": (random) => ({
    ...one([WHOLE.slice(0, cutIn(random, WHOLE)), { pauseMs: random.between(0, 9) }, "reset"], RANK, [0, 1]),
    mayBreakOff: true,
  }),
  "a slow request": (random) => {
    const cut = cutIn(random, WHOLE);
    return one([WHOLE.slice(0, cut), { pauseMs: random.between(0, 60) }, WHOLE.slice(cut)], {
      ...RANK,
      statuses: [200],
    });
  },
  "a method that a path does not have": (random) => {
    const [method, target] = [random.pick(METHODS), random.pick(PATHS)];
    return one([head(method, target)], { method, target, statuses: [404, 405] });
  },
  "HTTP/1.0": () =>
    one(["GET /health HTTP/1.0\r\n\r\n"], { method: "GET", target: "/health", statuses: [200] }),
  "a way out of the pages' folder": (random) => {
    const target = random.pick(TRAVERSALS);
    return one([head("GET", target)], { method: "GET", target, statuses: [400, 404] });
  },
  "an odd path": (random) => {
    const method = random.pick(["GET", "POST"]);
    return one([head(method, random.pick(ODD_TARGETS))], { method }, [0, 1]);
  },
  "a whole address": (random) =>
    one([head("GET", `http://${random.pick(ADDRESSES)}${random.pick(PATHS)}`)], { method: "GET" }),
  "many headers": (random) =>
    one([get(...list(random.between(1, 900), (at) => `X-${at}: y`))], {
      method: "GET",
      target: "/health",
      statuses: [200],
    }),
  "a request id that is none": (random) => {
    const letters = list(random.between(1, 200), () => String.fromCharCode(random.between(0x20, 0x7e)));
    const id = random.pick([
      `${MARK} ${letters.join("")}`,
      "a, b",
      "\u00e9\u00ff",
      `${MARK}%0d%0aX-Injected: 1`,
      "<script>",
    ]);
    return one([get(`X-Request-Id: ${id}`)], { method: "GET", target: "/health", statuses: [200] });
  },
  "a body where none belongs": (random) => {
    const target = random.pick(["/health", "/v1/models", "/openapi.json"]);
    return one([head("GET", target, [JSON_LINE, "Content-Length: 2"]), "{}"], {
      method: "GET",
      target,
      statuses: [200],
    });
  },
};

/** Cases that wait for a timeout of the service. There are few of them, many run at a time. */
export const SLOW_FAMILIES = {
  "a body that never ends": (random) =>
    one(
      [rank([random.pick([`Content-Length: ${LENGTH}`, CHUNKED])]), random.pick(["", "{", "5\r\n{"])],
      { ...RANK, statuses: [400, 408, 504] },
      [0, 1],
    ),
  "headers that never end": (random) =>
    one(
      [random.pick(["P", "GET /health HTTP/1.1\r\n", "GET /health HTTP/1.1\r\nHost: localhost\r\nX:"])],
      { statuses: [408] },
      [0, 1],
    ),
};

function mapValues(table, make) {
  return Object.fromEntries(Object.entries(table).map(([name, row]) => [name, make(row)]));
}

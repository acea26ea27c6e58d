import {
  type Asked,
  type Family,
  type HostileCase,
  head,
  JSON_LINES,
  pick,
  post,
  SMALL_RANK,
} from "./cases.ts";
import type { Step } from "./exchange.ts";
import { MARK } from "./judge.ts";

const PATHS = [
  "/v1/systemone",
  "/v1/rank",
  "/v1/models",
  "/health",
  "/ready",
  "/docs",
  "/redoc",
  "/openapi.json",
  "/openapi.typed.json",
  "/nothing",
  "/",
];
const METHODS = [
  "DELETE",
  "PUT",
  "PATCH",
  "OPTIONS",
  "TRACE",
  "PROPFIND",
  "LOCK",
  "M-SEARCH",
  "QUERY",
  "PURGE",
];
const NO_METHODS = ["get", "GE T", "G\u00cbT", "", "GETT", "POSTPOST", "\u0000GET", "G".repeat(5000)];
const TRAVERSALS = [
  "/docs/static/../../package.json",
  "/docs/static/..%2f..%2fpackage.json",
  "/docs/static/%2e%2e/%2e%2e/etc/passwd",
  "/docs/static/..%5c..%5cpackage.json",
  "/docs/static/....//....//etc/passwd",
  "/docs/static/%252e%252e%252fetc%252fpasswd",
  "/docs/static//etc/passwd",
  "/docs/static/%00",
  "/redoc/../../etc/passwd",
  "/../../../../etc/passwd",
  "/..\\..\\etc\\passwd",
  "//etc/passwd",
  "/v1/../../etc/passwd",
  "/%2e%2e/%2e%2e/etc/passwd",
  "/docs/static/..%c0%af..%c0%afetc/passwd",
  "/proc/self/environ",
];
const ODD_TARGETS = [
  "/health%00",
  "/health%",
  "/health%zz",
  "/%ff%fe",
  "/health/",
  "//health",
  "/HEALTH",
  "/./health",
  "/health/../health",
  "/health;a=b",
  "/v1/rank?a=b",
  `/${"a".repeat(9_000)}`,
  `/?${"a=b&".repeat(2_000)}`,
  "/v1/rank#x",
  "/\u00e9",
  "/%c3%a9",
  "/v1%2frank",
  "/health?__proto__[x]=1",
];

const asksFor = (method: string, target: string, statuses?: readonly number[]): Asked =>
  statuses === undefined ? { method, target } : { method, target, statuses };

function single(
  family: string,
  steps: readonly Step[],
  asked: Asked,
  answers: readonly [number, number] = [1, 1],
): HostileCase {
  return { family, steps, requests: [asked], answers };
}

export const requestCases: Readonly<Record<string, Family>> = {
  "a method that a path does not have": (random) => {
    const method = pick(random, METHODS);
    const target = pick(random, PATHS);
    return single(
      "a method that a path does not have",
      [head(method, target)],
      asksFor(method, target, [404, 405]),
    );
  },
  "no method": (random) =>
    single(
      "no method",
      [`${pick(random, NO_METHODS)} /health HTTP/1.1\r\nHost: localhost\r\n\r\n`, "end"],
      { statuses: [400] },
      [0, 1],
    ),
  CONNECT: (random) =>
    single(
      "CONNECT",
      [
        `CONNECT ${pick(random, ["example.org:443", "/health", "127.0.0.1:22"])} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
      ],
      { statuses: [400, 405] },
    ),
  "another version": (random) => {
    const version = pick(random, [
      "HTTP/2.0",
      "HTTP/1.2",
      "HTTP/0.9",
      "HTTP/9.9",
      "HTTP/1.10",
      "HTTP/1",
      "http/1.1",
      "HTCPCP/1.0",
      "HTTP/1.1 ",
    ]);
    return single("another version", [`GET /health ${version}\r\nHost: localhost\r\n\r\n`, "end"], {
      method: "GET",
      target: "/health",
      statuses: [400],
    });
  },
  "no version": (random) =>
    single(
      "no version",
      [
        `GET ${pick(random, ["/health", "/v1/models", "/"])}${pick(random, ["", " "])}\r\n${pick(random, ["", "Host: localhost\r\n"])}\r\n`,
        "end",
      ],
      { statuses: [400] },
    ),
  "HTTP/1.0": () => single("HTTP/1.0", ["GET /health HTTP/1.0\r\n\r\n"], asksFor("GET", "/health", [200])),
  "the preface of HTTP/2": () =>
    single("the preface of HTTP/2", ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "end"], { statuses: [400] }),
  "a way out of the pages' folder": (random) => {
    const target = pick(random, TRAVERSALS);
    return single(
      "a way out of the pages' folder",
      [head("GET", target)],
      asksFor("GET", target, [400, 404]),
    );
  },
  "an odd path": (random) => {
    const target = pick(random, ODD_TARGETS);
    const method = pick(random, ["GET", "POST"]);
    return single("an odd path", [head(method, target)], { method }, [0, 1]);
  },
  "a whole address": (random) => {
    const target = `http://${pick(random, ["evil.example", "127.0.0.1:1", "a:b@c", "[::1]"])}${pick(random, PATHS)}`;
    return single("a whole address", [head("GET", target)], { method: "GET" });
  },
  "no host, or two": (random) =>
    single(
      "no host, or two",
      [`GET /health HTTP/1.1\r\n${pick(random, ["", "Host: localhost\r\nHost: b\r\n"])}\r\n`],
      asksFor("GET", "/health", [400]),
    ),
  "headers that are too long": (random) => {
    const line = pick(random, [
      `X: ${MARK.repeat(4_000)}`,
      ...[3_000].map((count) => Array.from({ length: count }, (_, at) => `X-${at}: y`).join("\r\n")),
    ]);
    return single(
      "headers that are too long",
      [head("GET", "/health", [line]), "end"],
      asksFor("GET", "/health", [431]),
    );
  },
  "many headers": ({ below }) => {
    const lines = Array.from({ length: 1 + below(900) }, (_, at) => `X-${at}: y`);
    return single("many headers", [head("GET", "/health", lines)], asksFor("GET", "/health", [200]));
  },
  "a request id that is none": ({ below }) => {
    const bytes = Array.from({ length: 1 + below(200) }, () => 0x20 + below(0x5f)).map((code) =>
      String.fromCharCode(code),
    );
    const line = `X-Request-Id: ${pick({ below } as never, [`${MARK} ${bytes.join("")}`, "a, b", "\u00e9\u00ff", `${MARK}%0d%0aX-Injected: 1`, "<script>"])}`;
    return single(
      "a request id that is none",
      [head("GET", "/health", [line])],
      asksFor("GET", "/health", [200]),
    );
  },
  "an expectation": (random) => {
    const value = pick(random, ["100-continue", "100-Continue", "200-ok", "", "100-continue, x", MARK]);
    const isMet = value.toLowerCase() === "100-continue";
    const steps = post("/v1/rank", SMALL_RANK, [...JSON_LINES, `Expect: ${value}`]);
    return single(
      "an expectation",
      [...steps, "end"].slice(0, isMet ? 2 : 3) as Step[],
      asksFor("POST", "/v1/rank", isMet ? [200] : [200, 417]),
    );
  },
  "an upgrade": (random) => {
    const lines = pick(random, [
      ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"],
      [
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version: 13",
      ],
    ]);
    return single("an upgrade", [head("GET", "/health", lines)], asksFor("GET", "/health", [200]));
  },
  "another media type": (random) => {
    const lines = pick(random, [
      [],
      ["Content-Type: text/plain"],
      ["Content-Type: application/xml"],
      ["Content-Type: application/json; charset=latin1"],
      ["Content-Type: application/json", "Content-Type: application/json"],
      ["Content-Type: application/json, text/plain"],
      ["Content-Type: multipart/form-data; boundary=x"],
      ["Content-Type: "],
      ["Content-Type: application/json; charset=utf-16"],
      ["Content-Type: application/jsonx"],
      [`Content-Type: ${MARK}`],
    ]);
    return single(
      "another media type",
      post("/v1/rank", SMALL_RANK, lines),
      asksFor("POST", "/v1/rank", [422]),
    );
  },
  "an encoded body": (random) => {
    const lines = [
      ...JSON_LINES,
      `Content-Encoding: ${pick(random, ["gzip", "br", "deflate", "gzip, identity", MARK])}`,
    ];
    return single("an encoded body", post("/v1/rank", SMALL_RANK, lines), asksFor("POST", "/v1/rank", [422]));
  },
  "headers of proxies and callers": (random) => {
    const lines = pick(random, [
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
    ]);
    return single(
      "headers of proxies and callers",
      post("/v1/rank", SMALL_RANK, [...JSON_LINES, ...lines]),
      asksFor("POST", "/v1/rank", [200]),
    );
  },
  "a body where none belongs": (random) => {
    const target = pick(random, ["/health", "/v1/models", "/openapi.json"]);
    return single(
      "a body where none belongs",
      [head("GET", target, [...JSON_LINES, "Content-Length: 2"]), "{}"],
      asksFor("GET", target, [200]),
    );
  },
};

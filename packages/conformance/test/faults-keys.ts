import { KEY } from "./faulty-service.ts";
import type { PlantedFault } from "./planted-fault.ts";
import { authorization, early, giveKey, header, letIn, refuse } from "./planting-http.ts";

const isKnownPath = (url = "") =>
  /^\/($|v1\/(systemone|rank|models|rerank)|v2\/rerank|rerank|info|health|ready|livez|docs|redoc|openapi\.json|assets|metrics)/.test(
    url,
  );
const asksForKey = (response: Parameters<typeof refuse>[0]) =>
  refuse(response, 401, undefined, { "www-authenticate": "Bearer", "x-decision-error": "KEY_MISSING" });
const withoutKey = (path: string) =>
  early(
    ({ url, headers }) => url?.split("?")[0] === path && headers.authorization === undefined,
    (response) => asksForKey(response),
  );

/** Keys that are accepted or asked for where they should not be. */
export const KEY_FAULTS: readonly PlantedFault[] = [
  {
    name: "the key alone, without Bearer",
    fault: authorization((given) => given === KEY),
    hasKey: true,
    fails: ["auth.wrong"],
  },
  {
    name: "the key as a password",
    fault: authorization((given) => {
      const [scheme, code = ""] = given.split(" ");
      return scheme === "Basic" && Buffer.from(code, "base64").toString().split(":").includes(KEY);
    }),
    hasKey: true,
    fails: ["auth.wrong"],
  },
  {
    name: "the key behind any scheme",
    fault: authorization((given) => given.split(" ")[1] === KEY),
    hasKey: true,
    fails: ["auth.wrong"],
  },
  {
    name: "the key in quotation marks",
    fault: authorization((given) => given === `Bearer "${KEY}"`),
    hasKey: true,
    fails: ["auth.wrong"],
  },
  {
    name: "the end of a key is enough",
    fault: authorization((given) => given.length > 10 && KEY.endsWith(given.slice(7))),
    hasKey: true,
    fails: ["auth.wrong"],
  },
  {
    name: "the last character of a key is not compared",
    fault: authorization((given) => given.slice(0, -1) === `Bearer ${KEY}`.slice(0, -1)),
    hasKey: true,
    fails: ["auth.wrong"],
  },
  {
    name: "the first character of a key is not compared",
    fault: authorization((given) => given.slice(8) === KEY.slice(1)),
    hasKey: true,
    fails: ["auth.wrong"],
  },
  {
    name: "the right key among several",
    fault: authorization((given) => given.split(/, ?/).includes(`Bearer ${KEY}`)),
    hasKey: true,
    fails: ["auth.wrong"],
  },
  {
    name: "the key in a cookie",
    fault: letIn(({ headers }) => headers.cookie?.includes(KEY) === true),
    hasKey: true,
    fails: ["auth.elsewhere"],
  },
  {
    name: "the key in Proxy-Authorization",
    fault: letIn(({ headers }) => headers["proxy-authorization"] === `Bearer ${KEY}`),
    hasKey: true,
    fails: ["auth.elsewhere"],
  },
  {
    name: "a wrong key on a connection that has brought the right one",
    fault: {
      early: (request) => {
        const socket = request.socket as typeof request.socket & { isTrusted?: boolean };
        if (request.headers.authorization === `Bearer ${KEY}`) socket.isTrusted = true;
        else if (socket.isTrusted && request.headers.authorization !== undefined) giveKey(request);
        return false;
      },
    },
    hasKey: true,
    fails: ["auth.before-body", "auth.each-request"],
  },
  {
    name: "unknown paths ask for a key",
    fault: early(
      ({ url, headers }) => !isKnownPath(url) && headers.authorization === undefined,
      (response) => asksForKey(response),
    ),
    hasKey: true,
    fails: ["media.order-of-checks", "routes.unknown", "wire.keep-alive"],
  },
  {
    name: "wrong methods ask for a key",
    fault: early(
      ({ url, method, headers }) =>
        method !== "POST" &&
        /^\/v1\/(rank|systemone)$/.test(url ?? "") &&
        headers.authorization === undefined,
      (response) => asksForKey(response),
    ),
    hasKey: true,
    fails: ["media.order-of-checks", "routes.head", "routes.methods"],
  },
  {
    name: "the list of models asks for a key",
    fault: withoutKey("/v1/models"),
    hasKey: true,
    fails: ["auth.open-routes", "models.list", "routes.head", "routes.methods", "routes.query"],
  },
  {
    name: "the document asks for a key",
    fault: withoutKey("/openapi.json"),
    hasKey: true,
    fails: ["auth.open-routes", "docs.openapi", "routes.head", "routes.methods", "routes.query"],
  },
  { name: "liveness asks for a key", fault: withoutKey("/livez"), hasKey: true, fails: ["livez.status"] },
  {
    name: "the key checked when a body without a length has come",
    fault: {
      early: (request, response) => {
        const { authorization: given, "transfer-encoding": coding } = request.headers;
        if (request.method !== "POST" || coding === undefined || given === `Bearer ${KEY}`) return false;
        request.resume();
        request.on("end", () => asksForKey(response));
        return true;
      },
    },
    hasKey: true,
    fails: ["auth.before-body-comes"],
  },
  {
    name: "an announced size checked before the key",
    fault: early(
      ({ headers }) => headers.authorization === undefined && Number(headers["content-length"]) > 2_097_152,
      (response) => refuse(response, 413, undefined, { "x-decision-error": "BODY_TOO_LARGE" }),
    ),
    hasKey: true,
    fails: ["auth.before-body-comes", "media.order-of-checks"],
  },
  {
    name: "a missing key called a wrong one",
    fault: header("x-decision-error", (code) => (code === "KEY_MISSING" ? "UNAUTHORIZED" : code)),
    hasKey: true,
    fails: ["errors.code"],
    only: ["auth.missing", "errors.code"],
  },
  {
    name: "a challenge of another scheme",
    fault: header("www-authenticate", (value) =>
      value === undefined ? undefined : 'Basic realm="decisions"',
    ),
    hasKey: true,
    fails: ["auth.challenge"],
  },
];

import { KEY } from "./faulty-service.ts";
import { keyedFaults, on, type PlantedFault } from "./planted-fault.ts";
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
  ...keyedFaults({
    "the key alone, without Bearer: auth.wrong": authorization((given) => given === KEY),
    "the key behind any scheme: auth.wrong": authorization((given) => given.split(" ")[1] === KEY),
    "the key in quotation marks: auth.wrong": authorization((given) => given === `Bearer "${KEY}"`),
    "the key in a cookie: auth.elsewhere": letIn(({ headers }) => headers.cookie?.includes(KEY) === true),
    "a wrong key on a connection that has brought the right one: auth.each-request": on.early((request) => {
      const socket = request.socket as typeof request.socket & { isTrusted?: boolean };
      if (request.headers.authorization === `Bearer ${KEY}`) socket.isTrusted = true;
      else if (socket.isTrusted && request.headers.authorization !== undefined) giveKey(request);
      return false;
    }),
    "unknown paths ask for a key: media.order-of-checks, routes.unknown, wire.keep-alive": early(
      ({ url, headers }) => !isKnownPath(url) && headers.authorization === undefined,
      (response) => asksForKey(response),
    ),
    "the list of models asks for a key: auth.open-routes, models.list, routes.query":
      withoutKey("/v1/models"),
    "the document asks for a key: auth.open-routes, docs.openapi, routes.query": withoutKey("/openapi.json"),
    "liveness asks for a key: livez.status": withoutKey("/livez"),
    "an announced size checked before the key: auth.before-body-comes, media.order-of-checks": early(
      ({ headers }) => headers.authorization === undefined && Number(headers["content-length"]) > 2_097_152,
      (response) => refuse(response, 413, undefined, { "x-decision-error": "BODY_TOO_LARGE" }),
    ),
    "a challenge of another scheme: auth.challenge": header("www-authenticate", (value) =>
      value === undefined ? undefined : 'Basic realm="decisions"',
    ),
  }),
  ...keyedFaults(
    {
      "a missing key called a wrong one: errors.code": header("x-decision-error", (code) =>
        code === "KEY_MISSING" ? "UNAUTHORIZED" : code,
      ),
    },
    { only: ["auth.missing", "errors.code"] },
  ),
];

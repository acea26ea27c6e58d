import { excerpt, type Reply } from "../../client/exchange.ts";
import { at, isMap, namesOf } from "../../client/json.ts";
import { pathBelow } from "../../client/target.ts";
import { ownContract, pathsOf } from "../../documents.ts";
import { type Check, type Draft, keylessChecksOf } from "../../trial/check.ts";
import type { Trial } from "../../trial/trial.ts";

/** Checks of the documentation pages. */
export const PAGE_CHECKS: readonly Check[] = [
  ...keylessChecksOf("contract: /docs, /redoc", {
    "docs.own-assets": {
      clause: "Every asset of the pages comes from this server.",
      expected: "`text/html`; scripts, styles and images from this server, each 200",
      run: async (trial: Trial) => {
        for (const path of ["/docs", "/redoc"]) {
          const reply = await loadPage(trial, path);
          const type = reply.headers["content-type"] ?? "";
          trial.expect(/^text\/html\b/.test(type), `content-type is ${JSON.stringify(type)}`, reply);
          const tags = reply.text.replace(/(<script[^>]*>)[\s\S]*?<\/script>/g, "$1");
          const assets = tags.matchAll(/<(?:script|link|img)\b[^>]*?\s(?:src|href)="([^"#]+)"/g);
          for (const [, asset = ""] of assets) {
            if (asset.startsWith("data:")) continue;
            const below = pathBelow(trial.target, new URL(asset, reply.request.url));
            trial.expect(below !== undefined, `${path} loads ${asset}`, reply);
            trial.status(await trial.get(below), 200);
          }
        }
      },
    },
  }),
  ...keylessChecksOf("interface: paths", {
    "docs.docs": page("/docs"),
    "docs.redoc": page("/redoc"),
    "docs.openapi": {
      clause: "GET /openapi.json gives the generated schema.",
      expected: "200 with a JSON document that names an OpenAPI version and has both inference operations",
      run: async (trial: Trial) => {
        const reply = await trial.get("/openapi.json");
        trial.expect(reply.status === 200 && isMap(reply.json), excerpt(reply), reply);
        const version = String(at(reply.json, "openapi"));
        trial.expect(/^3\./.test(version), `openapi is ${version}`, reply);
        const paths = namesOf(at(reply.json, "paths"));
        for (const path of ["/systemone", "/rank"])
          trial.expect(
            paths.some((name) => name.endsWith(path)),
            `no path ${path}`,
            reply,
          );
      },
    },
  }),
  ...keylessChecksOf("contract: /openapi.json", {
    "docs.openapi-contract": {
      clause: "The served document is this contract.",
      expected: "each path, method, operationId, status and schema of the contract",
      run: async (trial: Trial) => {
        const reply = await trial.get("/openapi.json");
        const { json: wanted } = await ownContract();
        const expectAt = (...place: readonly string[]) =>
          trial.expect(at(reply.json, ...place) !== undefined, `no ${place.join(" ")}`, reply);
        trial.equal("openapi", at(reply.json, "openapi"), at(wanted, "openapi"), reply);
        for (const path of pathsOf(wanted, reply.json))
          for (const method of namesOf(at(wanted, "paths", path))) {
            const place = ["paths", path, method];
            expectAt(...place);
            const [own, id] = [wanted, reply.json].map((document) => at(document, ...place, "operationId"));
            trial.equal(`operationId of ${method.toUpperCase()} ${path}`, id, own, reply);
            for (const status of namesOf(at(wanted, ...place, "responses")))
              expectAt(...place, "responses", status);
          }
        for (const schema of namesOf(at(wanted, "components", "schemas"))) {
          const place = ["components", "schemas", schema];
          expectAt(...place);
          for (const member of namesOf(at(wanted, ...place, "properties")))
            expectAt(...place, "properties", member);
        }
      },
    },
  }),
];

function page(path: string): Draft {
  return {
    clause: `GET ${path} gives documentation for people.`,
    expected: "200 with an HTML page, after at most one redirect within the server",
    run: async (trial: Trial) => {
      const reply = await loadPage(trial, path);
      trial.expect(reply.status === 200 && /<html|<!doctype html/i.test(reply.text), excerpt(reply), reply);
    },
  };
}

/** Gets a page, following at most one redirect within the server. */
async function loadPage(trial: Trial, path: string): Promise<Reply> {
  const reply = await trial.get(path);
  const { location } = reply.headers;
  if (reply.status < 300 || reply.status >= 400 || location === undefined || trial.profile === "full")
    return reply;
  const below = pathBelow(trial.target, new URL(location, reply.request.url));
  return below === undefined ? reply : await trial.get(below);
}

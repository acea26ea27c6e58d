import { excerpt, type Reply } from "../../client/exchange.ts";
import { at, isMap, namesOf, show } from "../../client/json.ts";
import { pathBelow } from "../../client/target.ts";
import { ownContract, pathsOf } from "../../documents.ts";
import { type Check, defineCheck } from "../../trial/check.ts";
import { RANK, SYSTEMONE } from "../../trial/operations.ts";
import type { Trial } from "../../trial/trial.ts";

/** Checks of the documentation pages. */
export const PAGE_CHECKS: readonly Check[] = [
  ...["/docs", "/redoc"].map((path) =>
    defineCheck({
      id: `docs.${path.slice(1)}`,
      clause: `GET ${path} gives documentation for people.`,
      source: "interface: paths",
      expected: "200 with an HTML page, after at most one redirect within the server",
      needsInference: false,
      run: async (trial: Trial) => {
        const reply = await page(trial, path);
        trial.expect(reply.status === 200 && /<html|<!doctype html/i.test(reply.text), excerpt(reply), reply);
      },
    }),
  ),
  defineCheck({
    id: "docs.own-assets",
    clause: "Every asset of the pages comes from this server.",
    source: "contract: /docs, /redoc",
    expected: "`text/html`; scripts, styles and images from this server, each 200",
    needsInference: false,
    run: async (trial: Trial) => {
      for (const path of ["/docs", "/redoc"]) {
        const reply = await page(trial, path);
        const type = reply.headers["content-type"] ?? "";
        trial.expect(/^text\/html\b/.test(type), `content-type is ${JSON.stringify(type)}`, reply);
        const tags = reply.text.replace(/(<script[^>]*>)[\s\S]*?<\/script>/g, "$1");
        const assets = tags.matchAll(/<(?:script|link|img)\b[^>]*?\s(?:src|href)="([^"#]+)"/g);
        for (const [, asset = ""] of assets) {
          if (asset.startsWith("data:")) continue;
          const below = pathBelow(trial.target, new URL(asset, reply.request.url));
          trial.expect(below !== undefined, `${path} loads ${asset}`, reply);
          const loaded = await trial.get(below);
          trial.expect(loaded.status === 200, `${asset}: ${loaded.status}`, loaded);
        }
      }
    },
  }),
  defineCheck({
    id: "docs.openapi",
    clause: "GET /openapi.json gives the generated schema.",
    source: "interface: paths",
    expected: "200 with a JSON document that names an OpenAPI version and has both inference operations",
    needsInference: false,
    run: async (trial: Trial) => {
      const reply = await trial.get("/openapi.json");
      trial.expect(reply.status === 200 && isMap(reply.json), excerpt(reply), reply);
      const version = at(reply.json, "openapi");
      trial.expect(typeof version === "string" && /^3\./.test(version), `openapi is ${show(version)}`, reply);
      for (const path of [SYSTEMONE, RANK]) {
        const isThere = namesOf(at(reply.json, "paths")).some((name) =>
          name.endsWith(path.replace("/v1", "")),
        );
        trial.expect(isThere, `no path ${path}`, reply);
      }
    },
  }),
  defineCheck({
    id: "docs.openapi-contract",
    clause: "The served document is this contract.",
    source: "contract: /openapi.json",
    expected: "each path, method, operationId, status and schema of the contract",
    needsInference: false,
    run: async (trial: Trial) => {
      const reply = await trial.get("/openapi.json");
      const { json: wanted } = await ownContract();
      const [version, own] = [reply.json, wanted].map((document) => at(document, "openapi"));
      trial.expect(version === own, `openapi is ${show(version)}, not ${show(own)}`, reply);
      for (const path of pathsOf(wanted, reply.json)) {
        for (const method of namesOf(at(wanted, "paths", path))) {
          const [own, served] = [wanted, reply.json].map((document) => at(document, "paths", path, method));
          const where = `${method.toUpperCase()} ${path}`;
          trial.expect(served !== undefined, `no ${where}`, reply);
          const id = at(served, "operationId");
          trial.expect(id === at(own, "operationId"), `operationId of ${where} is ${show(id)}`, reply);
          for (const status of namesOf(at(own, "responses")))
            trial.expect(at(served, "responses", status) !== undefined, `${where} without ${status}`, reply);
        }
      }
      for (const schema of namesOf(at(wanted, "components", "schemas"))) {
        const [own, served] = [wanted, reply.json].map((document) =>
          at(document, "components", "schemas", schema),
        );
        trial.expect(served !== undefined, `no schema ${schema}`, reply);
        for (const member of namesOf(at(own, "properties")))
          trial.expect(at(served, "properties", member) !== undefined, `${schema} without ${member}`, reply);
      }
    },
  }),
];

/** Gets a page, following at most one redirect within the server. */
async function page(trial: Trial, path: string): Promise<Reply> {
  const reply = await trial.get(path);
  const { location } = reply.headers;
  if (reply.status < 300 || reply.status >= 400 || location === undefined || trial.profile === "full")
    return reply;
  const below = pathBelow(trial.target, new URL(location, reply.request.url));
  return below === undefined ? reply : await trial.get(below);
}

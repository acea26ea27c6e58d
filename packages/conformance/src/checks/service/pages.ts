import { excerpt, type Reply } from "../../client/exchange.ts";
import { at, isMap, type Json, namesOf, show, toPlain } from "../../client/json.ts";
import { pathBelow } from "../../client/target.ts";
import { difference, misfitOf, ownContract, pathsOf, placeOf, schemasOf } from "../../documents.ts";
import { type Check, checksOf, type Draft, keylessChecksOf } from "../../trial/check.ts";
import { OPERATIONS, RANK, SYSTEMONE } from "../../trial/operations.ts";
import type { Trial } from "../../trial/trial.ts";
import { CHOICE, freshState, NOULS, SCORE } from "../scored.ts";

const OPEN_PATHS = ["/health", "/ready", "/v1/models"];

/** Checks that compare the served OpenAPI document with the contract and with the server's answers. */
export const DOCUMENT_CHECKS: readonly Check[] = [
  ...keylessChecksOf("contract: /openapi.json", {
    "docs.openapi-schemas": {
      clause: "The served document has the schemas of the contract, member by member.",
      expected: "the types, members, bounds and enumerations of the contract; descriptions may differ",
      run: async (trial: Trial) => {
        const reply = await trial.get("/openapi.json");
        if (reply.json === undefined) trial.skip("no document: see docs.openapi");
        const { json: wanted } = await ownContract();
        const parts = ["schemas", "securitySchemes", "parameters", "requestBodies", "responses", "headers"];
        for (const part of parts) expectEqual(trial, reply, ["components", part], wanted);
        for (const path of pathsOf(wanted, reply.json))
          for (const method of namesOf(at(wanted, "paths", path)))
            for (const part of ["requestBody", "responses", "parameters", "security"])
              expectEqual(trial, reply, ["paths", path, method, part], wanted);
        expectEqual(trial, reply, ["security"], wanted);
      },
    },
    "docs.openapi-errors": {
      clause: "The server's errors fit its served document.",
      expected:
        "for each error of the run a status that the document declares for the path, and a body that fits",
      turn: "last",
      run: (trial: Trial) => checkAnswersFit(trial, (status) => status >= 400),
    },
  }),
  ...keylessChecksOf("interface: paths", {
    "docs.openapi-answers": {
      clause: "The server's answers fit its served document.",
      expected: "a body that fits the served schema of its path in each 200 of the run",
      turn: "last",
      run: (trial: Trial) => checkAnswersFit(trial, (status) => status === 200),
    },
  }),
  ...checksOf("contract: /openapi.json", {
    "docs.openapi-examples": {
      clause: "The example requests of the served document are answered.",
      expected: "200 for each example request, and example answers that fit their schemas",
      run: checkExamples,
    },
  }),
];

/** Compares a part of the served document with the same part of the contract. */
function expectEqual(trial: Trial, reply: Reply, place: readonly string[], wanted: Json): void {
  const found = difference(at(wanted, ...place), at(reply.json, ...place), place);
  trial.fits(found, reply);
}

async function checkAnswersFit(trial: Trial, isMeant: (status: number) => boolean): Promise<void> {
  const document = (await trial.get("/openapi.json")).json;
  if (document === undefined) trial.skip("no document: see docs.openapi");
  for (const path of OPEN_PATHS) await trial.get(path);
  await trial.post(SYSTEMONE, { state: freshState(), questions: { c: CHOICE, n: NOULS[0], s: SCORE } });
  for (const { path } of OPERATIONS) await trial.post(path, {});
  await trial.post(RANK, { state: freshState(), candidates: { a: "x", b: "y" } });
  const schemas = schemasOf(document);
  const isStrict = trial.profile === "full";
  const known = new Set<string>();
  for (const reply of trial.seen) {
    const { path = "", method } = reply.request;
    if (!isMeant(reply.status) || reply.json === undefined || known.has(`${path} ${reply.text}`)) continue;
    known.add(`${path} ${reply.text}`);
    const operation = ["paths", path, method.toLowerCase()];
    if (at(document, ...operation) === undefined) continue; // an unknown path or method
    const misfit = misfitOf(document, schemas, operation, reply, isStrict);
    trial.fits(misfit && `${reply.status} to ${path}: ${misfit}`, reply);
  }
}

async function checkExamples(trial: Trial): Promise<void> {
  const reply = await trial.get("/openapi.json");
  const document = reply.json;
  if (document === undefined) trial.skip("no document: see docs.openapi");
  const schemas = schemasOf(document);
  for (const { path } of OPERATIONS) {
    const operation = ["paths", path, "post"];
    for (const example of examplesAt(document, [...operation, "requestBody"])) {
      const answer = await trial.post(path, toPlain(example));
      trial.expect([200, 503].includes(answer.status), `${answer.status} for ${show(example)}`, answer);
    }
    for (const status of namesOf(at(document, ...operation, "responses"))) {
      const place = [...operation, "responses", status];
      const schema = [...placeOf(document, place), "content", "application/json", "schema"];
      if (at(document, ...schema) === undefined) continue;
      for (const example of examplesAt(document, place)) {
        const misfit = schemas.misfitAt(schema, example);
        trial.fits(misfit && `the example ${show(example)} of ${status}: ${misfit}`, reply);
      }
    }
  }
}

/** The examples of a request's or a response's body. */
function examplesAt(document: Json, place: readonly string[]): readonly Json[] {
  const media = [...placeOf(document, place), "content", "application/json"];
  const named = namesOf(at(document, ...media, "examples")).map((name) =>
    at(document, ...placeOf(document, [...media, "examples", name]), "value"),
  );
  return [at(document, ...media, "example"), ...named].flatMap((example) => example ?? []);
}

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

import type { Reply } from "../../client/exchange.ts";
import { at, type Json, namesOf, show, toPlain } from "../../client/json.ts";
import { sentPath } from "../../client/target.ts";
import { difference, misfitOf, ownContract, pathsOf, placeOf, schemasOf } from "../../documents.ts";
import { type Check, checksOf, keylessChecksOf } from "../../trial/check.ts";
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
    const path = sentPath(trial.target, reply.request.url);
    if (!isMeant(reply.status) || reply.json === undefined || known.has(`${path} ${reply.text}`)) continue;
    known.add(`${path} ${reply.text}`);
    const operation = ["paths", path, reply.request.method.toLowerCase()];
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

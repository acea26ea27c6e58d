import type { Reply } from "../../client/exchange.ts";
import { at, isList, isMap, type Json, namesOf } from "../../client/json.ts";
import { sentPath } from "../../client/target.ts";
import { difference, misfitOf, ownContract, pathsOf, pointerSteps, schemasOf } from "../../documents.ts";
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
        for (const part of [
          "schemas",
          "securitySchemes",
          "parameters",
          "requestBodies",
          "responses",
          "headers",
        ])
          expectEqual(trial, reply, ["components", part], wanted);
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
    const method = reply.request.method.toLowerCase();
    const operation = ["paths", path, method];
    if (at(document, ...operation) === undefined) continue; // an unknown path or method
    const misfit = misfitOf(document, schemas, operation, reply, isStrict);
    trial.expect(
      misfit === undefined,
      `${reply.status} to ${method.toUpperCase()} ${path}: ${misfit}`,
      reply,
    );
  }
}

async function checkExamples(trial: Trial): Promise<void> {
  const reply = await trial.get("/openapi.json");
  const document = reply.json;
  if (document === undefined) trial.skip("no document: see docs.openapi");
  const schemas = schemasOf(document);
  for (const { path } of OPERATIONS) {
    const operation = at(document, "paths", path, "post");
    for (const { name, value } of examplesIn(
      document,
      at(operation, "requestBody", "content", "application/json"),
    ))
      if (value !== undefined) {
        const answer = await trial.post(path, Buffer.from(JSON.stringify(plain(value))));
        trial.expect(
          answer.status === 200 || answer.status === 503,
          `${answer.status} for the example ${name}`,
          answer,
        );
      }
    for (const status of namesOf(at(operation, "responses"))) {
      const given = at(operation, "responses", status);
      const reference = at(given, "$ref");
      const place =
        typeof reference === "string"
          ? pointerSteps(reference)
          : ["paths", path, "post", "responses", status];
      const body = [...place, "content", "application/json"];
      for (const { name, value } of examplesIn(document, at(document, ...body))) {
        if (value === undefined || at(document, ...body, "schema") === undefined) continue;
        const misfit = schemas.misfitAt([...body, "schema"], value);
        trial.expect(misfit === undefined, `the example ${name} of ${status}: ${misfit}`, reply);
      }
    }
  }
}

function examplesIn(
  document: Json,
  media: Json | undefined,
): readonly { name: string; value: Json | undefined }[] {
  const single = at(media, "example");
  const many = at(media, "examples");
  const named = namesOf(many).map((name) => {
    const given = at(many, name);
    const reference = at(given, "$ref");
    const example = typeof reference === "string" ? at(document, ...pointerSteps(reference)) : given;
    return { name, value: at(example, "value") };
  });
  return single === undefined ? named : [{ name: "of the body", value: single }, ...named];
}

/** Plain objects: examples do not depend on the order of members and have no special names. */
function plain(value: Json): unknown {
  if (isList(value)) return value.map(plain);
  return isMap(value) ? Object.fromEntries([...value].map(([name, member]) => [name, plain(member)])) : value;
}

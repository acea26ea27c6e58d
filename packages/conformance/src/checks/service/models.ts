import { at, isList, show } from "../../client/json.ts";
import { type Check, checksOf, type Draft } from "../../trial/check.ts";
import { FULL_ID } from "../../trial/facts.ts";
import { OPERATIONS, RANK, SMALL, SYSTEMONE } from "../../trial/operations.ts";
import type { Trial } from "../../trial/trial.ts";

/** Checks of the names of the served model. */
export const MODEL_CHECKS: readonly Check[] = [
  ...checksOf("interface: Versions", {
    "model.id-form": {
      clause:
        "The served model's id is `<namespace>/<name>@<revision>` with 40 lowercase hexadecimal digits.",
      expected: "an id of that form in the member `model` of a systemone answer",
      run: async (trial: Trial) => {
        const inferred = await trial.infer(SYSTEMONE, SMALL);
        const model = at(inferred.json, "model");
        trial.expect(typeof model === "string" && FULL_ID.test(model), `model is ${show(model)}`, inferred);
      },
    },
    "model.full-id": acceptedAs("its full id", ({ id }) => id),
    "model.without-revision": acceptedAs("its id without the revision", ({ plain }) => plain),
    "model.bare-name": acceptedAs("its bare name", ({ bare }) => bare),
    "model.short-alias": {
      clause: "A request may name the served model by one lowercase short alias.",
      expected: "200 with a lowercase alias that the server lists",
      run: async (trial: Trial) => {
        const { bare } = namesOf(trial);
        const short = trial.facts.aliases.filter((alias) => /^[^/@A-Z]+$/.test(alias) && alias !== bare);
        if (short.length === 0)
          trial.skip("the server lists no lowercase alias, and the contract names none");
        await checkAccepted(trial, short);
      },
    },
    "model.unknown": {
      clause: "Any other model id is refused with 422; no other model is fetched or served.",
      expected: "422 from both operations",
      run: async (trial: Trial) => {
        const { id } = namesOf(trial);
        const flipped = id.endsWith("0") ? "1" : "0";
        await checkRefused(trial, [`${id.slice(0, -1)}${flipped}`, "no-such/model-of-this-check"]);
      },
    },
  }),
  ...checksOf("contract: ModelList", {
    "model.listed-aliases": {
      clause:
        "Every name that /v1/models lists is accepted. The list has the id without revision, the bare name and a lowercase alias.",
      expected: "`aliases` with the id without revision and the bare name; 200 for each",
      run: async (trial: Trial) => {
        const reply = await trial.get("/v1/models");
        const aliases = at(reply.json, "models", 0, "aliases");
        if (!isList(aliases)) trial.skip("no list of aliases: see models.schema");
        const { plain, bare } = namesOf(trial);
        for (const name of [plain, bare])
          trial.expect(aliases.includes(name), `${show(aliases)} without ${name}`, reply);
        const names = aliases.filter((name): name is string => typeof name === "string");
        trial.expect(
          names.some((name) => /^[^/@A-Z]+$/.test(name)),
          `no short lowercase alias in ${show(aliases)}`,
          reply,
        );
        await checkAccepted(trial, names);
      },
    },
    "model.exact-name": {
      clause: "Names of the model are case-sensitive and matched exactly.",
      expected: "422 for the id in capitals, with a space or truncated, and for the empty name",
      run: async (trial: Trial) => {
        const { id, bare } = namesOf(trial);
        const others = [
          ...[id.toUpperCase(), `${id} `, id.slice(0, -1), ` ${bare}`, bare.slice(0, -1), `${bare}@main`],
          "",
          "__proto__",
          "constructor",
        ];
        await checkRefused(
          trial,
          others.filter((name) => !trial.facts.aliases.includes(name) && name !== bare),
        );
      },
    },
    "model.null": {
      clause: "`model: null` is refused.",
      expected: "422",
      run: (trial: Trial) => checkRefused(trial, [null]),
    },
  }),
  ...checksOf("interface: SystemoneRequest", {
    "model.type": {
      clause: "`model` is a string.",
      expected: "422 for a number, a boolean, an array and an object",
      run: (trial: Trial) => checkRefused(trial, [5, true, [namesOf(trial).id], { id: namesOf(trial).id }]),
    },
  }),
  ...checksOf("contract: Ranking, Health, ModelList", {
    "model.same-everywhere": {
      clause: "Answers, /v1/models and /health name the same model.",
      expected: "the same full id in all of them, from both operations",
      run: async (trial: Trial) => {
        const { id, revision } = namesOf(trial);
        const [health, models] = await Promise.all([trial.get("/health"), trial.get("/v1/models")]);
        for (const { path, body } of OPERATIONS) {
          const inferred = await trial.infer(path, body);
          trial.equal("model", at(inferred.json, "model"), id, inferred);
        }
        trial.equal("model of /health", at(health.json, "model"), id, health);
        for (const [name, wanted] of Object.entries({ id, name: id, revision }))
          trial.equal(name, at(models.json, "models", 0, name), wanted, models);
        const list = at(models.json, "models");
        trial.expect(isList(list) && list.length === 1, `${show(list)} is not one model`, models);
        const [listed, own] = [at(list, 0, "aliases"), at(health.json, "aliases")];
        trial.equal("the list of aliases", show(listed), show(own), models);
      },
    },
  }),
];

/** The served model's full id, the id without its revision, and the name alone. */
function namesOf(trial: Trial) {
  const id =
    trial.facts.modelId ?? trial.skip("no answer tells the served model's full id: see model.id-form");
  const [plain = "", revision = ""] = id.split("@");
  return { id, plain, revision, bare: plain.split("/")[1] ?? "" };
}

function acceptedAs(what: string, name: (names: ReturnType<typeof namesOf>) => string): Draft {
  return {
    clause: `A request may name the served model by ${what}.`,
    expected: "200 from both operations, and the full id in `model`",
    run: (trial) => checkAccepted(trial, [name(namesOf(trial))]),
  };
}

/** Asks both operations with each of these as the model. */
function eachModel(
  trial: Trial,
  models: readonly unknown[],
  ask: (path: string, body: object) => Promise<unknown>,
): Promise<void> {
  return trial.each(models, async (model) => {
    for (const { path, body } of OPERATIONS) await ask(path, { ...body, model });
  });
}

function checkAccepted(trial: Trial, names: readonly string[]): Promise<void> {
  return eachModel(trial, names, async (path, body) => {
    const inferred = await trial.infer(path, body);
    const answered = at(inferred.json, "model");
    // the profile `seed` does not require that a ranking names its model
    if (answered === undefined && path === RANK && trial.profile === "seed") return;
    trial.equal("model", answered, trial.facts.modelId, inferred);
  });
}

function checkRefused(trial: Trial, models: readonly unknown[]): Promise<void> {
  return eachModel(trial, models, (path, body) => trial.refused(path, body));
}

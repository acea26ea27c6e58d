import { excerpt } from "../../client/exchange.ts";
import { at, isList, isMap, show } from "../../client/json.ts";
import { type Check, defineCheck } from "../../trial/check.ts";
import { FULL_ID } from "../../trial/facts.ts";
import { OPERATIONS, RANK, SMALL, SYSTEMONE } from "../../trial/operations.ts";
import type { Trial } from "../../trial/trial.ts";

/** Checks of the names of the served model. */
export const MODEL_CHECKS: readonly Check[] = [
  defineCheck({
    id: "model.id-form",
    clause: "The served model's id is `<namespace>/<name>@<revision>` with 40 lowercase hexadecimal digits.",
    source: "interface: Versions",
    expected: "an id of that form in the member `model` of a systemone answer",
    run: async (trial: Trial) => {
      const inferred = await trial.infer(SYSTEMONE, SMALL);
      const model = at(inferred.json, "model");
      trial.expect(typeof model === "string" && FULL_ID.test(model), `model is ${show(model)}`, inferred);
    },
  }),
  ...[
    { id: "model.full-id", what: "its full id", name: (id: string) => id },
    {
      id: "model.without-revision",
      what: "its id without the revision",
      name: (id: string) => id.split("@")[0],
    },
    { id: "model.bare-name", what: "its bare name", name: (id: string) => id.split("@")[0]?.split("/")[1] },
  ].map(({ id, what, name }) =>
    defineCheck({
      id,
      clause: `A request may name the served model by ${what}.`,
      source: "interface: Versions",
      expected: "200 from both operations, and the full id in `model`",
      run: (trial: Trial) => checkAccepted(trial, [name(servedId(trial)) ?? ""]),
    }),
  ),
  defineCheck({
    id: "model.short-alias",
    clause: "A request may name the served model by one lowercase short alias.",
    source: "interface: Versions",
    expected: "200 with a lowercase alias that the server lists",
    run: async (trial: Trial) => {
      const bare = servedId(trial).split("@")[0]?.split("/")[1];
      const short = trial.facts.aliases.filter((alias) => /^[^/@A-Z]+$/.test(alias) && alias !== bare);
      if (short.length === 0) trial.skip("the server lists no lowercase alias, and the contract names none");
      await checkAccepted(trial, short);
    },
  }),
  defineCheck({
    id: "model.listed-aliases",
    clause:
      "Every name that /v1/models lists is accepted. The list has the id without revision, the bare name and a lowercase alias.",
    source: "contract: ModelList",
    expected: "`aliases` with the id without revision and the bare name; 200 for each",
    run: async (trial: Trial) => {
      const reply = await trial.get("/v1/models");
      const aliases = at(reply.json, "models", 0, "aliases");
      if (!isList(aliases)) trial.skip("no list of aliases: see models.schema");
      const plain = servedId(trial).split("@")[0] ?? "";
      for (const name of [plain, plain.split("/")[1] ?? ""])
        trial.expect(aliases.includes(name), `${show(aliases)} without ${name}`, reply);
      const names = aliases.filter((name): name is string => typeof name === "string");
      trial.expect(
        names.some((name) => /^[^/@A-Z]+$/.test(name)),
        `no short lowercase alias in ${show(aliases)}`,
        reply,
      );
      await checkAccepted(trial, names);
    },
  }),
  defineCheck({
    id: "model.unknown",
    clause: "Any other model id is refused with 422; no other model is fetched or served.",
    source: "interface: Versions",
    expected: "422 from both operations",
    run: async (trial: Trial) => {
      const id = servedId(trial);
      const flipped = id.endsWith("0") ? "1" : "0";
      await checkRefused(trial, [`${id.slice(0, -1)}${flipped}`, "no-such/model-of-this-check"]);
    },
  }),
  defineCheck({
    id: "model.exact-name",
    clause: "Names of the model are case-sensitive and matched exactly.",
    source: "contract: ModelList",
    expected: "422 for the id in capitals, with a space or truncated, and for the empty name",
    run: async (trial: Trial) => {
      const id = servedId(trial);
      const bare = id.split("@")[0]?.split("/")[1] ?? "";
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
  }),
  defineCheck({
    id: "model.type",
    clause: "`model` is a string.",
    source: "interface: SystemoneRequest",
    expected: "422 for a number, a boolean, an array and an object",
    run: (trial: Trial) => checkRefused(trial, [5, true, [servedId(trial)], { id: servedId(trial) }]),
  }),
  defineCheck({
    id: "model.null",
    clause: "`model: null` is refused.",
    source: "contract: ModelList",
    expected: "422",
    run: (trial: Trial) => checkRefused(trial, [null]),
  }),
  defineCheck({
    id: "model.same-everywhere",
    clause: "Answers, /v1/models and /health name the same model.",
    source: "contract: Ranking, Health, ModelList",
    expected: "the same full id in all of them, from both operations",
    run: async (trial: Trial) => {
      const id = servedId(trial);
      const [health, models] = await Promise.all([trial.get("/health"), trial.get("/v1/models")]);
      for (const { path, body } of OPERATIONS) {
        const inferred = await trial.infer(path, body);
        trial.expect(
          at(inferred.json, "model") === id,
          `${show(at(inferred.json, "model"))}, not ${id}`,
          inferred,
        );
      }
      trial.expect(at(health.json, "model") === id, `/health says ${show(at(health.json, "model"))}`, health);
      for (const name of ["id", "name"]) {
        const value = at(models.json, "models", 0, name);
        trial.expect(value === id, `${name} is ${show(value)}`, models);
      }
      const revision = at(models.json, "models", 0, "revision");
      trial.expect(revision === id.split("@")[1], `revision is ${show(revision)}`, models);
      const list = at(models.json, "models");
      trial.expect(isList(list) && list.length === 1, `${show(list)} is not one model`, models);
      const [of, ofHealth] = [at(models.json, "models", 0, "aliases"), at(health.json, "aliases")];
      trial.expect(
        show(of) === show(ofHealth),
        `aliases ${show(of)}, but ${show(ofHealth)} in /health`,
        models,
      );
      trial.expect(isMap(health.json), excerpt(health), health);
    },
  }),
];

function servedId(trial: Trial): string {
  return trial.facts.modelId ?? trial.skip("no answer tells the served model's full id: see model.id-form");
}

async function checkAccepted(trial: Trial, names: readonly string[]): Promise<void> {
  const cases = names.flatMap((model) =>
    OPERATIONS.map(({ path, body }) => ({ name: `${model} at ${path}`, model, path, body })),
  );
  await trial.each(cases, async ({ model, path, body }) => {
    const inferred = await trial.infer(path, { ...body, model });
    const answered = at(inferred.json, "model");
    // the profile `seed` does not require that a ranking names its model
    if (answered === undefined && path === RANK && trial.profile === "seed") return;
    trial.expect(answered === trial.facts.modelId, `model is ${show(answered)} in the answer`, inferred);
  });
}

async function checkRefused(trial: Trial, models: readonly unknown[]): Promise<void> {
  const cases = models.flatMap((model) =>
    OPERATIONS.map(({ path, body }) => ({ name: `${JSON.stringify(model)} at ${path}`, model, path, body })),
  );
  await trial.each(cases, async ({ model, path, body }) => {
    await trial.refused(path, { ...body, model });
  });
}

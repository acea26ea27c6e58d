import type { operations } from "../../generated/typesafe.ts";
import type { Handler } from "../../src/contract/call.ts";

/** The served model under each of its names that stands for a hosted one. */
export const typesafeModels: Handler<"typesafeModels", operations> = async ({
  engine: { model },
  modelNames,
}) => {
  const facts = { description: model.description, release_date: model.releaseDate };
  return { status: 200, body: { models: [model.id, ...modelNames].map((name) => ({ name, ...facts })) } };
};

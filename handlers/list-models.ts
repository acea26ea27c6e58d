import type { Handler } from "../src/contract/call.ts";
import { tuningReport } from "./health.ts";

/** The one model that is served. */
export const listModels: Handler<"listModels"> = async ({ engine: { model, tuning } }) => ({
  status: 200,
  body: {
    models: [
      {
        id: model.id,
        name: model.id,
        aliases: [...model.aliases],
        task: "typed-decisions",
        description: model.description,
        release_date: model.releaseDate,
        revision: model.revision,
        ...tuningReport(tuning),
      },
    ],
  },
});

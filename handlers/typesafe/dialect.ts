import type { operations } from "../../generated/typesafe.ts";
import { type Dialect, handlersOf } from "../../src/contract/dialect.ts";
import { typesafeError } from "./errors.ts";
import { typesafeModels } from "./models.ts";
import { typesafeSystemone } from "./systemone.ts";

/** The hosted System One API under /typesafe. */
export const typesafe: Dialect = {
  name: "typesafe",
  basePath: "/typesafe",
  handlers: handlersOf<operations>({ typesafeModels, typesafeSystemone }),
  modelNames: ["jev-latest"],
  contentCodings: ["gzip", "zstd"],
  requestIdHeader: "x-typesafe-request-id",
  errorOf: typesafeError,
};

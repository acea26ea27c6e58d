import { invalidOption } from "../options/resolve.ts";
import type { Format } from "./actions/rows/batch.ts";

/** The format of a file of rows: as given, else by its name. @throws ServiceError INVALID_OPTION for a name that says something else */
export function formatOf(flag: string, file: string, given: string | undefined, standard: Format): Format {
  if (given === "jsonl" || given === "csv") return given;
  if (file === "-") return standard;
  if (/\.(jsonl|ndjson)$/i.test(file)) return "jsonl";
  if (/\.csv$/i.test(file)) return "csv";
  throw invalidOption(`${flag} takes a name that ends in .jsonl or .csv; otherwise add ${flag}-format.`);
}

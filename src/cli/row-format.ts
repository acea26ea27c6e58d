import { invalidOption } from "../options/resolve.ts";
import type { Format } from "./actions/batch.ts";

/**
 * The format of a file of rows: as given, otherwise by the file's extension. @throws ServiceError INVALID_OPTION for an
 * unknown extension
 */
export function formatOf(flag: string, file: string, given: string | undefined, standard: Format): Format {
  if (given === "jsonl" || given === "csv") return given;
  if (file === "-") return standard;
  if (/\.(jsonl|ndjson)$/i.test(file)) return "jsonl";
  if (/\.csv$/i.test(file)) return "csv";
  throw invalidOption(
    `${flag} must be a file name that ends in .jsonl or .csv; otherwise add ${flag}-format.`,
  );
}

import { invalidOption } from "../options/resolve.ts";
import type { ServiceOptions } from "../options/table.ts";

/** The file of keys. @throws ServiceError INVALID_OPTION if no file is configured */
export function keysFileOf({ keysFile }: ServiceOptions): string {
  if (keysFile !== "") return keysFile;
  throw invalidOption("Name the file of keys by --keys-file or DECISION_KEYS_FILE.");
}

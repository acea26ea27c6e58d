import { Flags } from "@oclif/core";
import { optionFlags } from "./option-flags.ts";

/** The flags of the commands that ask once. */
export const ASK_FLAGS = {
  state: Flags.string({
    required: true,
    helpValue: "<text>",
    description: "the material; - reads standard input",
  }),
  json: Flags.boolean({ description: "print what the service would answer, as JSON" }),
  ...optionFlags(["model", "modelPath"]),
};

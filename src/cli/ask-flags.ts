import { Flags } from "@oclif/core";
import { optionFlags } from "./option-flags.ts";

/** Flags shared by `decide` and `rank`. */
export const ASK_FLAGS = {
  state: Flags.string({
    required: true,
    helpValue: "<text>",
    description: "the material that the question is about; - reads standard input",
  }),
  json: Flags.boolean({ description: "print the service's JSON answer" }),
  ...optionFlags(["model", "modelPath"]),
};

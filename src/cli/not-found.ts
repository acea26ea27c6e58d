import { type Hook, toConfiguredId } from "@oclif/core";
import { ServiceError } from "../errors.ts";
import { errorDocument, isJsonAsked } from "./error-document.ts";
import { didYouMean } from "./likely.ts";
import { plainLine } from "./output/plain-text.ts";

/** Called by oclif for an unknown command. It does not prompt, since a script may be the caller. */
const commandNotFound: Hook.CommandNotFound = async function ({ id, argv = [], config }) {
  const known = [...config.commandIDs, ...config.topics.map(({ name }) => name)];
  const names = known.map((each) => toConfiguredId(each, config));
  const given = toConfiguredId(id, config);
  const message = `there is no command ${JSON.stringify(given)}${didYouMean(given, names) || "."}`;
  if (isJsonAsked(argv)) console.log(errorDocument(new ServiceError("INVALID_OPTION", message)));
  console.error(plainLine(`decision: ${message}`));
  console.error("for the commands, run: decision --help");
  this.exit(2);
};

export default commandNotFound;

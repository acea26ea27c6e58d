import { isServiceLink } from "../options/resolve.ts";
import { OPTION_TABLE } from "../options/table.ts";

const PREFIX = "DECISION_";
/** Known variables other than those of the options. */
const OTHERS = [
  "DECISION_API_KEY",
  "DECISION_CONFIG",
  "DECISION_PYTHON",
  "DECISION_REMOTE_TOKEN",
  "DECISION_URL",
];
/** Other variables that Kubernetes sets for a service named `decision` or `decision-...`. */
const SERVICE_LINK =
  /^DECISION_(\w+_)?(SERVICE_(HOST|PORT(_\w+)?)|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/;

/**
 * A warning for each variable with our prefix that nothing reads. It may belong to another program, so it is not an
 * error.
 */
export async function unknownVariables(
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly string[]> {
  const known = [...Object.values(OPTION_TABLE).map((row) => row.env), ...OTHERS];
  const isLink = (name: string) => SERVICE_LINK.test(name) || isServiceLink(env[name] ?? "");
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith(PREFIX) && !known.includes(name) && !isLink(name),
  );
  if (unknown.length === 0) return [];
  const { didYouMean } = await import("./likely.ts"); // loaded here because it is rarely needed
  return unknown.map(
    (name) => `warning: the variable ${name} is unknown and ignored${didYouMean(name, known) || "."}`,
  );
}

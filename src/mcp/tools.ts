import type { Tool } from "@modelcontextprotocol/server";
import type { OperationId } from "../contract/call.ts";
import { REQUEST_LIMITS } from "../decisions/request.ts";
import { isRecord } from "../records.ts";
import { type Schema, toJsonSchema } from "./schemas.ts";

/** A tool's texts for agents. Its schemas come from the contract. */
interface ToolText {
  readonly operationId: Extract<OperationId, "systemone" | "rank" | "listModels">;
  readonly title: string;
  readonly description: string;
}

const { minCandidates, maxCandidates } = REQUEST_LIMITS;

/** The tools by name, in the order in which they are listed. */
export const TOOLS = {
  decide: {
    operationId: "systemone",
    title: "Answer closed questions about a text",
    description:
      "Answers named questions about one state (a text or any JSON) with probabilities. A small local model picks among the " +
      "candidates that you give and writes no text of its own. A question has a type: `choice` picks one of the labels in " +
      "`criteria` (an object from label to description), `noul` judges whether `instructions`, written as a statement, is " +
      "true, and `score` grades by a rubric (`criteria` is a list of levels, lowest first). Use it to classify, route, check " +
      "or grade. Ask all questions about one state in one call: that is faster than one call for each. Describe each " +
      "label in words of its own. `confidence` is the largest probability; close to even means that the model cannot tell. " +
      "The same arguments always give the same scores.",
  },
  rank: {
    operationId: "rank",
    title: "Rank candidate texts",
    description:
      `Ranks ${minCandidates} to ${maxCandidates} candidate texts for one state and a question about it, best first, with probabilities that sum to 1. ` +
      "Use it to pick the best of several replies, tools, documents or next steps. `candidates` is an object from label to " +
      "text or a list of texts. The same arguments always give the same order.",
  },
  models: {
    operationId: "listModels",
    title: "List the served model",
    description:
      "Names the model that answers, its aliases and its pinned revision. Takes no arguments. `decide` and `rank` need no " +
      "model name.",
  },
} as const satisfies Readonly<Record<string, ToolText>>;

export type ToolName = keyof typeof TOOLS;

const TOOL_NAMES = Object.keys(TOOLS) as ToolName[]; // the literal has exactly these keys

/** The tool of a name, which some gateways send as they list it: `decisions__rank`, `decisions.rank`. */
export function toolOf(calledAs: string): ToolName | undefined {
  return TOOL_NAMES.find(
    (name) =>
      calledAs === name ||
      (calledAs.endsWith(name) && /[^a-z0-9]/i.test(calledAs.charAt(calledAs.length - name.length - 1))),
  );
}

/** The tools are read-only: they use only their arguments and change nothing. */
const ANNOTATIONS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/**
 * The list of tools, with the input and output schemas of the contract's operations.
 *
 * @param document the bundled contract (generated/openapi.json), parsed
 * @throws Error if an operation is missing in it
 */
export function listTools(document: Schema): Tool[] {
  return Object.entries(TOOLS).map(([name, { operationId, title, description }]: [string, ToolText]) => {
    const operation = findOperation(operationId, document);
    return {
      name,
      title,
      description,
      inputSchema: inputSchema(operation, document),
      outputSchema: outputSchema(operation, document),
      annotations: { title, ...ANNOTATIONS },
    };
  });
}

type ObjectSchema = Tool["inputSchema"];

function inputSchema(operation: Schema, document: Schema): ObjectSchema {
  const content = at(operation, "requestBody", "content", "application/json");
  if (content === undefined) return { type: "object", properties: {}, additionalProperties: false };
  const examples = at(content, "examples");
  const values = isRecord(examples) ? Object.values(examples).map((example) => at(example, "value")) : [];
  return { ...objectSchema(at(content, "schema"), document), examples: values };
}

function outputSchema(operation: Schema, document: Schema): ObjectSchema {
  return objectSchema(at(operation, "responses", "200", "content", "application/json", "schema"), document);
}

function objectSchema(schema: unknown, document: Schema): ObjectSchema {
  const converted = toJsonSchema(schema, document);
  if (converted.type !== "object") throw new Error("The schema of a body of the contract is not an object.");
  return { ...converted, type: "object" };
}

function findOperation(operationId: string, document: Schema): Schema {
  const paths = isRecord(document.paths) ? Object.values(document.paths) : [];
  const operations = paths.flatMap((item) => (isRecord(item) ? Object.values(item) : []));
  const found = operations.find((operation) => at(operation, "operationId") === operationId);
  if (isRecord(found)) return found;
  throw new Error(`The contract has no operation ${operationId}.`);
}

function at(node: unknown, ...steps: readonly string[]): unknown {
  return steps.reduce<unknown>((value, step) => (isRecord(value) ? value[step] : undefined), node);
}

import type { PlantedFault } from "./planted-fault.ts";
import { servedDocument } from "./planting-http.ts";
import { inner, mapsIn, type TreeMap } from "./tree.ts";

const without = (map: TreeMap, member: string, name: string) => {
  const list = map.get(member);
  if (Array.isArray(list))
    map.set(
      member,
      list.filter((one) => one !== name),
    );
};
const operation = (body: TreeMap, path: string) => inner(body, "paths", path, "post");

/** Faults of the served document: one place differs from the contract. */
export const DOCUMENT_FAULTS: readonly PlantedFault[] = [
  {
    name: "confidence of a choice optional in the document",
    fault: servedDocument((schemas) => without(inner(schemas, "ChoiceAnswer"), "required", "confidence")),
    fails: ["docs.openapi-schemas"],
  },
  {
    name: "score of a rubric at most 1 in the document",
    fault: servedDocument(
      (schemas) => void inner(schemas, "ScoreAnswer", "properties", "score").set("maximum", 1),
    ),
    fails: ["docs.openapi-answers", "docs.openapi-examples", "docs.openapi-schemas"],
  },
  {
    name: "the question of a ranking required in the document",
    fault: servedDocument(
      (schemas) => void inner(schemas, "RankRequest").set("required", ["state", "candidates", "question"]),
    ),
    fails: ["docs.openapi-schemas"],
  },
  {
    name: "further members of a request allowed in the document",
    fault: servedDocument(
      (schemas) => void inner(schemas, "SystemoneRequest").set("additionalProperties", true),
    ),
    fails: ["docs.openapi-schemas"],
  },
  {
    name: "an issue's type missing from the document",
    fault: servedDocument((schemas) =>
      without(inner(schemas, "ValidationIssue", "properties", "type"), "enum", "too_many_pairs"),
    ),
    fails: ["docs.openapi-schemas"],
  },
  {
    name: "a counter missing from the document",
    fault: servedDocument((schemas) => {
      inner(schemas, "Health", "properties").delete("cancelled_requests");
      without(inner(schemas, "Health"), "required", "cancelled_requests");
    }),
    fails: ["docs.openapi-contract", "docs.openapi-schemas"],
  },
  {
    name: "a limit as a text in the document",
    fault: servedDocument(
      (schemas) => void inner(schemas, "ServiceLimits", "properties", "max_pairs").set("type", "string"),
    ),
    fails: ["docs.openapi-answers", "docs.openapi-schemas"],
  },
  {
    name: "one label is enough in the document",
    fault: servedDocument(
      (schemas) => void inner(schemas, "ChoiceQuestion", "properties", "criteria").set("minProperties", 1),
    ),
    fails: ["docs.openapi-schemas"],
  },
  {
    name: "another name of an operation in the document",
    fault: servedDocument((_, body) => void operation(body, "/v1/systemone").set("operationId", "ask")),
    fails: ["docs.openapi-contract"],
  },
  {
    name: "rankings need no key in the document",
    fault: servedDocument((_, body) => void operation(body, "/v1/rank").set("security", [])),
    fails: ["docs.openapi-schemas"],
  },
  {
    name: "no Retry-After in the document",
    fault: servedDocument((_, body) => {
      for (const map of mapsIn(body)) if (map.has("retry-after")) map.delete("retry-after");
    }),
    fails: ["docs.openapi-schemas"],
  },
  {
    name: "another version of OpenAPI",
    fault: servedDocument((_, body) => void body.set("openapi", "3.1.0")),
    fails: ["docs.openapi-contract"],
  },
  {
    name: "another version of the service in the document",
    fault: servedDocument((_, body) => void inner(body, "info").set("version", "9.9.9")),
    fails: ["health.facts"],
  },
  {
    name: "requests as forms in the document",
    fault: servedDocument((_, body) => {
      const content = inner(operation(body, "/v1/rank"), "requestBody", "content");
      const json = content.get("application/json");
      content.clear();
      content.set("application/x-www-form-urlencoded", json ?? null);
    }),
    fails: ["docs.openapi-schemas"],
  },
];

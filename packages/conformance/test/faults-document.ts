import { faults, type PlantedFault } from "./planted-fault.ts";
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
export const DOCUMENT_FAULTS: readonly PlantedFault[] = faults({
  "confidence of a choice optional in the document: docs.openapi-schemas": servedDocument((schemas) =>
    without(inner(schemas, "ChoiceAnswer"), "required", "confidence"),
  ),
  "the question of a ranking required in the document: docs.openapi-schemas": servedDocument(
    (schemas) => void inner(schemas, "RankRequest").set("required", ["state", "candidates", "question"]),
  ),
  "further members of a request allowed in the document: docs.openapi-schemas": servedDocument(
    (schemas) => void inner(schemas, "SystemoneRequest").set("additionalProperties", true),
  ),
  "an issue's type missing from the document: docs.openapi-schemas": servedDocument((schemas) =>
    without(inner(schemas, "ValidationIssue", "properties", "type"), "enum", "too_many_pairs"),
  ),
  "one label is enough in the document: docs.openapi-schemas": servedDocument(
    (schemas) => void inner(schemas, "ChoiceQuestion", "properties", "criteria").set("minProperties", 1),
  ),
  "rankings need no key in the document: docs.openapi-schemas": servedDocument(
    (_, body) => void operation(body, "/v1/rank").set("security", []),
  ),
  "no Retry-After in the document: docs.openapi-schemas": servedDocument((_, body) => {
    for (const map of mapsIn(body)) if (map.has("retry-after")) map.delete("retry-after");
  }),
  "requests as forms in the document: docs.openapi-schemas": servedDocument((_, body) => {
    const content = inner(operation(body, "/v1/rank"), "requestBody", "content");
    const json = content.get("application/json");
    content.clear();
    content.set("application/x-www-form-urlencoded", json ?? null);
  }),
  "score of a rubric at most 1 in the document: docs.openapi-examples": servedDocument(
    (schemas) => void inner(schemas, "ScoreAnswer", "properties", "score").set("maximum", 1),
  ),
  "a counter missing from the document: docs.openapi-contract": servedDocument((schemas) => {
    inner(schemas, "Health", "properties").delete("cancelled_requests");
    without(inner(schemas, "Health"), "required", "cancelled_requests");
  }),
  "another name of an operation in the document: docs.openapi-contract": servedDocument(
    (_, body) => void operation(body, "/v1/systemone").set("operationId", "ask"),
  ),
  "another version of OpenAPI: docs.openapi-contract": servedDocument(
    (_, body) => void body.set("openapi", "3.1.0"),
  ),
  "a limit as a text in the document: docs.openapi-answers": servedDocument(
    (schemas) => void inner(schemas, "ServiceLimits", "properties", "max_pairs").set("type", "string"),
  ),
  "another version of the service in the document: health.facts": servedDocument(
    (_, body) => void inner(body, "info").set("version", "9.9.9"),
  ),
});

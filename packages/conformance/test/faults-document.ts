import { faults, type PlantedFault } from "./planted-fault.ts";
import { servedDocument } from "./planting-http.ts";
import { inner, mapsIn, type TreeMap } from "./tree.ts";

const operation = (body: TreeMap, path: string) => inner(body, "paths", path, "post");

/** Faults of the served document: one place differs from the contract. */
export const DOCUMENT_FAULTS: readonly PlantedFault[] = faults({
  "rankings need no key in the document: docs.openapi-schemas": servedDocument(
    (_, body) => void operation(body, "/v1/rank").set("security", []),
  ),
  "no Retry-After in the document: docs.openapi-schemas": servedDocument((_, body) => {
    for (const map of mapsIn(body)) if (map.has("retry-after")) map.delete("retry-after");
  }),
  "score of a rubric at most 1 in the document: docs.openapi-examples": servedDocument(
    (schemas) => void inner(schemas, "ScoreAnswer", "properties", "score").set("maximum", 1),
  ),
  "another name of an operation in the document: docs.openapi-contract": servedDocument(
    (_, body) => void operation(body, "/v1/systemone").set("operationId", "ask"),
  ),
  "another version of OpenAPI: docs.openapi-contract": servedDocument(
    (_, body) => void body.set("openapi", "3.1.0"),
  ),
  "a limit as a text in the document: docs.openapi-answers": servedDocument(
    (schemas) => void inner(schemas, "ServiceLimits", "properties", "max_pairs").set("type", "string"),
  ),
});

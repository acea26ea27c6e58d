import { isList, isMap, type Json, show } from "../client/json.ts";

/** Keywords left out of the comparison: descriptive, or specific to one server. */
const WORDS = new Set(["description", "title", "summary", "example", "examples", "default", "externalDocs"]);

/** Describes the first difference between two documents or schemas; undefined if they differ in descriptions only. */
export function difference(
  wanted: Json | undefined,
  served: Json | undefined,
  place: readonly string[],
): string | undefined {
  const where = place.join("/");
  if (isMap(wanted) && isMap(served)) {
    // under `properties`, names such as `title` are members, not keywords
    const isOfNames = ["properties", "schemas"].includes(place.at(-1) ?? "");
    const isSaid = (name: string) => !isOfNames && (WORDS.has(name) || name.startsWith("x-"));
    for (const name of new Set([...wanted.keys(), ...served.keys()])) {
      if (isSaid(name)) continue;
      const found = difference(wanted.get(name), served.get(name), [...place, name]);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (isList(wanted) && isList(served)) {
    const inOrder = ["required", "enum"].includes(place.at(-1) ?? "")
      ? [wanted, served].map(sorted)
      : [wanted, served];
    const [one = [], other = []] = inOrder;
    for (let index = 0; index < Math.max(one.length, other.length); index += 1) {
      const found = difference(one[index], other[index], [...place, String(index)]);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return wanted === served ? undefined : `${where} is ${show(served)}, in the contract ${show(wanted)}`;
}

function sorted(list: readonly Json[]): readonly Json[] {
  return list.toSorted((one, other) => (String(one) < String(other) ? -1 : 1));
}

import { isList, isMap, type Json, readJson } from "../src/client/json.ts";

/** JSON that a fault may change in place; objects keep their order. */
export type Tree = null | boolean | number | string | Tree[] | TreeMap;
export type TreeMap = Map<string, Tree>;

export function readTree(text: string): Tree {
  const json = readJson(text);
  if (json === undefined) throw new Error("no JSON");
  return thaw(json);
}

function thaw(value: Json): Tree {
  if (isList(value)) return value.map(thaw);
  if (isMap(value)) return new Map([...value].map(([name, member]) => [name, thaw(member)]));
  return value;
}

export function writeTree(tree: Tree): string {
  if (Array.isArray(tree)) return `[${tree.map(writeTree).join()}]`;
  if (!(tree instanceof Map)) return JSON.stringify(tree);
  return `{${[...tree].map(([name, member]) => `${JSON.stringify(name)}:${writeTree(member)}`).join()}}`;
}

/** Every object in it, the outermost first. */
export function mapsIn(tree: Tree): TreeMap[] {
  if (Array.isArray(tree)) return tree.flatMap(mapsIn);
  return tree instanceof Map ? [tree, ...[...tree.values()].flatMap(mapsIn)] : [];
}

/** The object under a name; an empty one that belongs to nothing where there is none. */
export function inner(tree: Tree | undefined, ...path: readonly string[]): TreeMap {
  let found = tree;
  for (const name of path) found = found instanceof Map ? found.get(name) : undefined;
  return found instanceof Map ? found : new Map();
}

/** The same members in another order, in the same object. */
export function reorder(map: TreeMap, order: (names: string[]) => string[]): void {
  const members = new Map(map);
  const names = order([...members.keys()]);
  map.clear();
  for (const name of names) {
    const value = members.get(name);
    if (value !== undefined) map.set(name, value);
  }
}

export function numbersOf(map: TreeMap): number[] {
  return [...map.values()].map(Number);
}

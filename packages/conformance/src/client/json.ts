/** A JSON value. Objects are maps, which keep the order of the text and allow any name. */
export type Json = null | boolean | number | string | readonly Json[] | JsonMap;
export type JsonMap = ReadonlyMap<string, Json>;

/** Parses JSON text; undefined if it is invalid. Of duplicate members the last one wins. */
export function readJson(text: string): Json | undefined {
  try {
    JSON.parse(text); // validates the text; the code below relies on that
  } catch {
    return undefined;
  }
  return new Reader(text).value();
}

const TOKEN = /[\s,:]*("(?:[^"\\]|\\.)*"|[[\]{}]|[^\s,:[\]{}"]+)/y;

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(token = this.#next()): Json {
    if (token === "{") return this.#object();
    if (token === "[") return this.#array();
    return JSON.parse(token); // a scalar
  }

  #object(): JsonMap {
    const members = new Map<string, Json>();
    for (let token = this.#next(); token !== "}"; token = this.#next())
      members.set(JSON.parse(token), this.value());
    return members;
  }

  #array(): readonly Json[] {
    const items: Json[] = [];
    for (let token = this.#next(); token !== "]"; token = this.#next()) items.push(this.value(token));
    return items;
  }

  #next(): string {
    TOKEN.lastIndex = this.#at;
    const token = TOKEN.exec(this.#text)?.[1];
    if (token === undefined) throw new SyntaxError("the text is not JSON although JSON.parse accepted it");
    this.#at = TOKEN.lastIndex;
    return token;
  }
}

export function isMap(value: Json | undefined): value is JsonMap {
  return value instanceof Map;
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** The value at a path of names and positions; undefined if there is none. */
export function at(value: Json | undefined, ...path: readonly (string | number)[]): Json | undefined {
  let found = value;
  for (const step of path) {
    if (typeof step === "number") found = isList(found) ? found[step] : undefined;
    else found = isMap(found) ? found.get(step) : undefined;
  }
  return found;
}

/** Names of an object's members in the order of the text; empty for any other value. */
export function namesOf(value: Json | undefined): readonly string[] {
  return isMap(value) ? [...value.keys()] : [];
}

/** Every scalar within the value, with its path. */
export function leavesOf(
  value: Json,
  path: readonly (string | number)[] = [],
): readonly { readonly path: string; readonly value: Json }[] {
  const children: readonly (readonly [string | number, Json])[] = isMap(value)
    ? [...value]
    : isList(value)
      ? [...value.entries()]
      : [];
  if (children.length === 0) return [{ path: path.join("."), value }];
  return children.flatMap(([name, child]) => leavesOf(child, [...path, name]));
}

/** A short description of a value, for a report. */
export function show(value: Json | undefined): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(toPlain(value));
  return text.length > 120 ? `${text.slice(0, 120)}...` : text;
}

/** Converts maps to plain objects, whose names are in JavaScript's order. */
export function toPlain(value: Json): unknown {
  if (isList(value)) return value.map(toPlain);
  if (!isMap(value)) return value;
  const plain: Record<string, unknown> = {};
  for (const [name, member] of value)
    Object.defineProperty(plain, name, { value: toPlain(member), enumerable: true });
  return plain;
}

/** Any JSON, with objects as maps: they keep the order of the text and hold any name. */
export type Json = null | boolean | number | string | readonly Json[] | JsonMap;
export type JsonMap = ReadonlyMap<string, Json>;

/** Reads JSON text; undefined where it is none. Of members with one name the last counts. */
export function readJson(text: string): Json | undefined {
  try {
    JSON.parse(text); // the strict judge; what follows may trust the text
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
    if (token === undefined) throw new SyntaxError("the text was no JSON after all");
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

/** What lies at a path of names and positions. */
export function at(value: Json | undefined, ...path: readonly (string | number)[]): Json | undefined {
  let found = value;
  for (const step of path) {
    if (typeof step === "number") found = isList(found) ? found[step] : undefined;
    else found = isMap(found) ? found.get(step) : undefined;
  }
  return found;
}

/** Names of an object's members in the order of the text; none for anything else. */
export function namesOf(value: Json | undefined): readonly string[] {
  return isMap(value) ? [...value.keys()] : [];
}

/** Every value in it with its path, the innermost ones only. */
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

/** The kind of a value and a little of it, for a report. */
export function show(value: Json | undefined): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(toPlain(value));
  return text.length > 120 ? `${text.slice(0, 120)}...` : text;
}

/** The same as plain objects, for libraries; names in the order that JavaScript gives them. */
export function toPlain(value: Json): unknown {
  if (isList(value)) return value.map(toPlain);
  if (!isMap(value)) return value;
  const plain: Record<string, unknown> = {};
  for (const [name, member] of value)
    Object.defineProperty(plain, name, { value: toPlain(member), enumerable: true });
  return plain;
}

/** A map's value. If it is missing, it is created and added. */
export function getOrSet<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const value = create();
  map.set(key, value);
  return value;
}

/** Groups consecutive items, each group of at most `most` units in total. A larger item is a group by itself. */
export function groupByUnits<Item>(
  items: readonly Item[],
  unitsOf: (item: Item) => number,
  most: number,
): readonly (readonly Item[])[] {
  const groups: Item[][] = [];
  let room = 0;
  for (const item of items) {
    const units = unitsOf(item);
    const last = groups.at(-1);
    const fits = last !== undefined && units <= room;
    if (fits) last.push(item);
    else groups.push([item]);
    room = (fits ? room : most) - units;
  }
  return groups;
}

const MAX_NAME_LENGTH = 100;

/** A member name as error locations show it: at most 100 characters, never half a surrogate pair. */
export function locationName(name: string): string {
  if (name.length <= MAX_NAME_LENGTH) return name;
  const last = name.charCodeAt(MAX_NAME_LENGTH - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff;
  return name.slice(0, splitsPair ? MAX_NAME_LENGTH - 1 : MAX_NAME_LENGTH);
}

// Reads the flags of the measurements.

/** A flag's value as a number above 0. Ends the process with 2 if it is none. @param flags values of `parseArgs` */
export function numberOf(flags, name) {
  const value = Number(flags[name]);
  if (value > 0) return value;
  return refuse(`--${name}: expected a number above 0, got ${JSON.stringify(flags[name])}.`);
}

/** Ends the process because of a wrong flag. */
export function refuse(message) {
  console.error(message);
  process.exit(2);
}

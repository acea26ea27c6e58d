import { readFileSync } from "node:fs";

/** Descriptors of the service besides its connections. Chosen: above those of a service and of the process that it may restart. */
const OTHERS = 100;

/** Maximum number of open files of this process; infinite where the system does not tell it. */
export function mostOpenFiles(): number {
  try {
    return limitOf(readFileSync("/proc/self/limits", "utf8"));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** @param text content of /proc/self/limits */
export function limitOf(text: string): number {
  const soft = /^Max open files\s+(\d+)/m.exec(text)?.[1];
  return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
}

/** The connections that fit into so many open files. Half of them, since as many may be refused and closing at the same time. */
export function connectionsWithin(openFiles: number): number {
  return Math.max(1, Math.floor((openFiles - OTHERS) / 2));
}

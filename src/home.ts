import { homedir } from "node:os";
import path from "node:path";

/** The user's folder; `/` for a user id that the system does not know, if HOME does not name a folder either. */
export function homeFolder(): string {
  try {
    const home = homedir();
    if (path.isAbsolute(home)) return home;
  } catch {} // no entry for this user id
  return "/";
}

import { bodyCases } from "./body-cases.ts";
import type { Family } from "./cases.ts";
import { framingCases } from "./framing-cases.ts";
import { requestCases } from "./request-cases.ts";

/** Every family by its name; a run takes them by chance. */
export const FAMILIES: Readonly<Record<string, Family>> = { ...bodyCases, ...framingCases, ...requestCases };

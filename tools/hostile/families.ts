import { bodyCases } from "./body-cases.ts";
import type { Family } from "./cases.ts";
import { framingCases } from "./framing-cases.ts";
import { requestCases } from "./request-cases.ts";

/** Every family by name. A run chooses among them at random. */
export const FAMILIES: Readonly<Record<string, Family>> = { ...bodyCases, ...framingCases, ...requestCases };

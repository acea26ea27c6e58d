import { ServiceError } from "../errors.ts";

/** @returns the error for an option, a variable or a file that cannot be used */
export function invalidOption(message: string): ServiceError {
  return new ServiceError("INVALID_OPTION", message);
}

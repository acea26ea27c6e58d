import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { ServiceError } from "../../errors.ts";
import { ARCHITECTURE_FACTS, architectureFacts } from "../architectures/manifests.ts";
import { type Manifest, manifestSchema } from "./manifest-schema.ts";
import { fileNameFaults } from "./names.ts";
import { MAX_MANIFEST_BYTES, parseJson } from "./package-file.ts";

export type { Manifest } from "./manifest-schema.ts";

let validator: ValidateFunction<Manifest> | undefined;

/** Compiled when the first manifest is read. The inference process gets a validated manifest and never compiles it. */
function manifestValidator(): ValidateFunction<Manifest> {
  // allErrors: `decision model verify` lists every fault. Safe, because the length of the text is limited
  validator ??= new Ajv({
    strict: true,
    strictRequired: false,
    discriminator: true,
    allErrors: true,
    verbose: true,
    validateSchema: false, // the schema is constant, and a test validates it
  }).compile(manifestSchema);
  return validator;
}

export type ReadManifest =
  | { readonly manifest: Manifest; readonly faults: readonly [] }
  | { readonly manifest: undefined; readonly faults: readonly [string, ...string[]] };

/**
 * Reads a manifest, or lists all its faults.
 *
 * @param text contents of manifest.json
 */
export function examineManifest(text: string): ReadManifest {
  const faulty = (faults: readonly string[]): ReadManifest => {
    const [first = "is not valid", ...rest] = faults;
    return { manifest: undefined, faults: [first, ...rest] };
  };
  if (text.length > MAX_MANIFEST_BYTES) return faulty([`has more than ${MAX_MANIFEST_BYTES} characters`]);
  let manifest: unknown;
  try {
    manifest = parseJson(text);
  } catch {
    return faulty(["is not JSON"]);
  }
  const validate = manifestValidator();
  if (!validate(manifest)) return faulty([...new Set((validate.errors ?? []).map(explain))]);
  const faults = inconsistencies(manifest);
  return faults.length > 0 ? faulty(faults) : { manifest, faults: [] };
}

/**
 * @param text contents of manifest.json
 * @param file its path, for messages
 * @throws ServiceError INVALID_MODEL naming the wrong member and what was expected
 */
export function readManifest(text: string, file = "manifest.json"): Manifest {
  const { manifest, faults } = examineManifest(text);
  if (manifest) return manifest;
  throw new ServiceError("INVALID_MODEL", `${file} ${faults[0]}.`);
}

/** Rules beyond the schema. */
function inconsistencies({ architecture, files }: Manifest): readonly string[] {
  const facts = architectureFacts(architecture.type);
  const faults = facts.files
    .filter((name) => !Object.hasOwn(files, name))
    .map(
      (name) =>
        `has no digest of ${name} in /files; the architecture ${architecture.type} requires this file`,
    );
  faults.push(...fileNameFaults(Object.keys(files)));
  faults.push(...(facts.faults?.(architecture) ?? []));
  return faults;
}

/** One fault as the end of a sentence that begins with the file's name. */
function explain({ instancePath, keyword, message, params, propertyName }: ErrorObject): string {
  const where = instancePath || "its top level";
  switch (keyword) {
    case "required":
      return `lacks the member ${instancePath}/${params.missingProperty}`;
    case "const":
      return `has the wrong value at ${where}, expected ${JSON.stringify(params.allowedValue)}`;
    case "discriminator":
      return `has an unknown value at ${where}/${params.tag}, expected ${Object.keys(ARCHITECTURE_FACTS).join(", ")}`;
    case "propertyNames":
      return `has a file name with a folder or special characters at ${where}: ${shown(params.propertyName)}`;
    default:
      if (propertyName !== undefined)
        return `has a file name with a folder or special characters at ${where}: ${shown(propertyName)}`;
      return `has an invalid value at ${where}: it ${message ?? "is not valid"}`;
  }
}

const shown = (name: unknown) => JSON.stringify(String(name).slice(0, 100));

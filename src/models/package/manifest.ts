import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { ServiceError } from "../../errors.ts";
import { type Architecture, type Manifest, manifestSchema } from "./manifest-schema.ts";
import { fileNameFaults } from "./names.ts";
import { MAX_MANIFEST_BYTES, parseJson } from "./package-file.ts";

export type {
  Architecture,
  JointGraphArchitecture,
  JointTextArchitecture,
  Manifest,
  Origin,
  TokenTreeArchitecture,
} from "./manifest-schema.ts";

/** Files without which a package cannot be served. */
export const REQUIRED_FILES: Readonly<Record<Architecture["type"], readonly string[]>> = {
  "bert-token-tree": ["model.safetensors", "tokenizer.json"],
  "gemma3-text-joint": ["config.json", "joint_head.safetensors", "model.safetensors", "tokenizer.json"],
  "onnx-joint-pairs": ["model.onnx", "tokenizer.json"],
};

let validator: ValidateFunction<Manifest> | undefined;

/** Compiled when the first manifest is read: an inference process is given one that was. */
function manifestValidator(): ValidateFunction<Manifest> {
  // every fault, for `decision model verify`; the text's length is bounded
  validator ??= new Ajv({
    strict: true,
    strictRequired: false,
    discriminator: true,
    allErrors: true,
    verbose: true,
    validateSchema: false, // a constant, which a test has validated
  }).compile(manifestSchema);
  return validator;
}

export type ReadManifest =
  | { readonly manifest: Manifest; readonly faults: readonly [] }
  | { readonly manifest: undefined; readonly faults: readonly [string, ...string[]] };

/**
 * Reads a manifest, or tells everything that is wrong with it.
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
 * @throws ServiceError INVALID_MODEL naming the member that is wrong and what it should be
 */
export function readManifest(text: string, file = "manifest.json"): Manifest {
  const { manifest, faults } = examineManifest(text);
  if (manifest) return manifest;
  throw new ServiceError("INVALID_MODEL", `${file} ${faults[0]}.`);
}

/** What the schema cannot say. */
function inconsistencies({ architecture, files }: Manifest): readonly string[] {
  const faults = REQUIRED_FILES[architecture.type]
    .filter((name) => !Object.hasOwn(files, name))
    .map(
      (name) => `has no digest of ${name} in /files: the architecture ${architecture.type} needs that file`,
    );
  faults.push(...fileNameFaults(Object.keys(files)));
  if (architecture.type === "bert-token-tree" && architecture.hidden % architecture.heads !== 0) {
    const { hidden, heads } = architecture;
    faults.push(`has /architecture/hidden ${hidden}, which is no multiple of its heads, ${heads}`);
  }
  return faults;
}

/** One fault as the end of a sentence that begins with the file's name. */
function explain({ instancePath, keyword, message, params, propertyName }: ErrorObject): string {
  const where = instancePath || "itself";
  switch (keyword) {
    case "required":
      return `lacks the member ${instancePath}/${params.missingProperty}`;
    case "const":
      return `has at ${where} another value than ${JSON.stringify(params.allowedValue)}`;
    case "discriminator":
      return `has at ${where}/${params.tag} none of ${Object.keys(REQUIRED_FILES).join(", ")}`;
    case "propertyNames":
      return `names a file in ${where} that is no plain file name: ${shown(params.propertyName)}`;
    default:
      if (propertyName !== undefined)
        return `names a file in ${where} that is no plain file name: ${shown(propertyName)}`;
      return `has at ${where} a value that ${message ?? "is not valid"}`;
  }
}

const shown = (name: unknown) => JSON.stringify(String(name).slice(0, 100));

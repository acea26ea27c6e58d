import type { JSONSchemaType } from "ajv";
import { size } from "../architectures/architecture-facts.ts";
import { ARCHITECTURE_FACTS, type Architecture } from "../architectures/manifests.ts";
import {
  FILE_NAME_PATTERN,
  ID_PATTERN,
  MAX_FILE_NAME_LENGTH,
  MAX_ID_LENGTH,
  MAX_REPOSITORY_LENGTH,
  PRINTABLE_PATTERN,
  REPOSITORY_PATTERN,
} from "./names.ts";

/** `manifest.json` of a model package, format `typed-decisions-model-v1`. */
export interface Manifest {
  readonly format: "typed-decisions-model-v1";
  /** `<namespace>/<name>@<revision>` */
  readonly id: string;
  readonly aliases: readonly string[];
  readonly version: string;
  readonly release_date: string;
  readonly description: string;
  readonly temperature: number;
  readonly shows_labels: boolean;
  readonly architecture: Architecture;
  readonly limits: { readonly max_state_question_tokens: number; readonly max_candidate_tokens: number };
  /** SHA-256 of every other file of the package, by name. */
  readonly files: Readonly<Record<string, string>>;
  /**
   * Where the files are published. If present, the revision of the id is the commit, otherwise the digest of the files.
   */
  readonly origin?: Origin;
}

export interface Origin {
  /** `<namespace>/<name>` on the hub. */
  readonly repository: string;
  /** The commit. */
  readonly revision: string;
}

const text = { type: "string", minLength: 1, pattern: PRINTABLE_PATTERN } as const;
/** Other members, such as `trained_on`, are ignored. */
export const manifestSchema: JSONSchemaType<Manifest> = {
  type: "object",
  title: "Manifest of a model package",
  description: "manifest.json of a model package, as served by `decision serve --model-path`.",
  required: [
    "format",
    "id",
    "aliases",
    "version",
    "release_date",
    "description",
    "temperature",
    "shows_labels",
    "architecture",
    "limits",
    "files",
  ],
  properties: {
    format: { type: "string", const: "typed-decisions-model-v1" },
    id: {
      type: "string",
      pattern: ID_PATTERN,
      maxLength: MAX_ID_LENGTH,
      description:
        "<namespace>/<name>@<revision>. Both names are letters, digits and _, with single dots and hyphens between. The revision is origin.revision if there is an origin. Otherwise it is the first 40 hex digits of the SHA-256 over the lines `<sha256>  <file name>\\n` of files, sorted by name.",
    },
    aliases: {
      type: "array",
      items: text,
      description: "Additional names of the model for requests.",
    },
    version: { ...text, description: "The model's version, for people." },
    release_date: {
      type: "string",
      pattern: "^\\d{4}-\\d{2}-\\d{2}$",
      description: "Date as YYYY-MM-DD.",
    },
    description: {
      type: "string",
      pattern: PRINTABLE_PATTERN,
      description: "One-line description, shown by /v1/models.",
    },
    temperature: {
      type: "number",
      exclusiveMinimum: 0,
      description: "Divisor of the scores in the softmax.",
    },
    shows_labels: {
      type: "boolean",
      description: "Whether the model reads `label: description` for a choice, or the description alone.",
    },
    architecture: {
      type: "object",
      required: ["type"],
      discriminator: { propertyName: "type" },
      oneOf: Object.values(ARCHITECTURE_FACTS).map(({ schema }) => schema),
    },
    limits: {
      type: "object",
      description: "A request over a limit is refused. Nothing is truncated.",
      required: ["max_state_question_tokens", "max_candidate_tokens"],
      properties: {
        max_state_question_tokens: size(
          "Maximum number of tokens of state and question together, special tokens included.",
        ),
        max_candidate_tokens: size("Maximum number of tokens of a candidate, special tokens included."),
      },
    },
    files: {
      type: "object",
      description:
        "SHA-256 of every other file of the package, by name without folders; no two names differ in case alone. Files that are not listed are never read.",
      required: [],
      propertyNames: { pattern: FILE_NAME_PATTERN, maxLength: MAX_FILE_NAME_LENGTH },
      maxProperties: 1000,
      additionalProperties: { type: "string", pattern: "^[0-9a-f]{64}$" },
    },
    origin: {
      type: "object",
      nullable: true,
      description: "Where the files are published.",
      required: ["repository", "revision"],
      properties: {
        repository: {
          type: "string",
          pattern: REPOSITORY_PATTERN,
          maxLength: MAX_REPOSITORY_LENGTH,
          description: "<namespace>/<name> on the hub.",
        },
        revision: {
          type: "string",
          pattern: "^[0-9a-f]{40}$",
          description: "The commit.",
        },
      },
    },
  },
};

import path from "node:path";
import { invalidModel } from "../../errors.ts";
import type { FolderWish } from "../architectures/architecture.ts";
import { describeFiles } from "../architectures/architectures.ts";
import { digests, namesIn } from "../package/folder-files.ts";
import { examineManifest, type Manifest } from "../package/manifest.ts";
import type { Origin } from "../package/manifest-schema.ts";
import { revisionOf } from "../package/package.ts";
import { GEMMA_DECISION_TEMPERATURE, PUBLISHED_MODELS, type PublishedModel } from "../store/catalogue.ts";

/** Facts given by the user. The rest is read from the files. */
export interface ImportFacts {
  /** `<namespace>/<name>` */
  readonly name?: string | undefined;
  readonly aliases: readonly string[];
  readonly version: string;
  readonly releaseDate: string;
  readonly description?: string | undefined;
  readonly temperature?: number | undefined;
  readonly maxStateQuestionTokens?: number | undefined;
  readonly maxCandidateTokens?: number | undefined;
  /** Where the files were fetched. */
  readonly origin?: Origin | undefined;
  /** Names of the labels and texts of the hypothesis, for classifiers. */
  readonly wish?: FolderWish | undefined;
}

/**
 * Makes the manifest of a folder with a model's files.
 *
 * @throws ServiceError INVALID_MODEL naming what the folder lacks
 */
export async function describeFolder(
  folder: string,
  facts: ImportFacts,
  published: readonly PublishedModel[] = PUBLISHED_MODELS,
): Promise<Manifest> {
  const names = await namesIn(folder);
  const { origin, wish = {} } = facts;
  const found = await describeFiles(folder, names, wish);
  if ((wish.labels ?? wish.hypothesis) !== undefined && found.architecture.type !== "pair-classifier")
    throw invalidModel(
      `${folder} holds no classifier: labels and hypotheses are for classifiers by entailment.`,
    );
  const files = await digests(folder, [
    ...found.needed,
    ...found.welcome.filter((name) => names.includes(name) && !found.needed.includes(name)),
  ]);
  const known = published.find(({ manifest }) => sameFiles(manifest.files, files));
  if (known) return known.manifest;
  const name = origin?.repository ?? facts.name ?? nameOf(folder);
  const manifest: Manifest = {
    format: "typed-decisions-model-v1",
    id: `${name}@${origin?.revision ?? revisionOf(files)}`,
    aliases: facts.aliases,
    version: facts.version,
    release_date: facts.releaseDate,
    description: facts.description ?? found.description,
    temperature: facts.temperature ?? GEMMA_DECISION_TEMPERATURE,
    shows_labels: false,
    architecture: found.architecture,
    limits: {
      max_state_question_tokens: facts.maxStateQuestionTokens ?? found.limits.max_state_question_tokens,
      max_candidate_tokens: facts.maxCandidateTokens ?? found.limits.max_candidate_tokens,
    },
    files,
    ...(origin && { origin }),
  };
  const { faults } = examineManifest(JSON.stringify(manifest));
  if (faults.length > 0) throw invalidModel(`the manifest of ${folder} ${faults[0]}.`);
  return manifest;
}

function sameFiles(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  return revisionOf(a) === revisionOf(b);
}

/** The name of a model in a folder that has none: `local/` and the folder's name. */
export const nameOf = (folder: string) => `local/${plainName(path.basename(path.resolve(folder)))}`;

/** A folder's name, converted to a valid name of a model. */
function plainName(name: string): string {
  const words = name.slice(0, 96).split(/[^A-Za-z0-9_.]+|\.{2,}/);
  return (
    words
      .map((word) => word.replaceAll(/^\.|\.$/g, ""))
      .filter((word) => word !== "")
      .join("-") || "model"
  );
}

import { isModelId, isRepository } from "../models/package/names.ts";
import { memberOf } from "../records.ts";
import { failed } from "./failures.ts";
import type { Digest } from "./local-files.ts";

/** What the hub says of a repository at a commit. */
export interface Repository {
  /** `<namespace>/<name>` */
  readonly repository: string;
  /** The commit, 40 hexadecimal digits. */
  readonly revision: string;
  readonly files: readonly RepositoryFile[];
  /** Name of the license, if its card has one. */
  readonly license: string | undefined;
  /** Day of the last change as YYYY-MM-DD, if known. */
  readonly changedOn: string | undefined;
}

export interface RepositoryFile extends Digest {
  /** With `/` between folders. */
  readonly path: string;
  readonly bytes: number;
}

/** A repository on the command line. */
export interface RepositoryName {
  readonly repository: string;
  /** Undefined for the main branch. */
  readonly revision: string | undefined;
}

/** Reads `<namespace>/<name>` with or without `@<commit>`. @returns undefined for any other text */
export function readRepositoryName(text: string): RepositoryName | undefined {
  if (isModelId(text)) {
    const [repository = "", revision] = text.split("@");
    return { repository, revision };
  }
  return isRepository(text) ? { repository: text, revision: undefined } : undefined;
}

/**
 * Reads the hub's description of a repository.
 *
 * @param json  parsed answer of `/api/models/<repository>/revision/<revision>?blobs=true`
 * @param asked the repository that was asked for
 * @throws ServiceError PULL_FAILED for an answer of another form, or for another commit than the one asked for
 * @see https://huggingface.co/docs/hub/api
 */
export function readRepository(json: unknown, asked: RepositoryName): Repository {
  const revision = textIn(json, "sha");
  if (revision === undefined || !/^[0-9a-f]{40}$/.test(revision)) throw unreadable(asked, "no commit");
  if (asked.revision !== undefined && asked.revision !== revision)
    throw failed(
      `the hub answers with the commit ${revision} of ${asked.repository}, expected ${asked.revision}.`,
    );
  const named = textIn(json, "id") ?? textIn(json, "modelId");
  const listed = memberOf(json, "siblings");
  if (!Array.isArray(listed)) throw unreadable(asked, "no list of files");
  const license = textIn(memberOf(json, "cardData"), "license");
  const day = textIn(json, "lastModified")?.slice(0, 10);
  return {
    // a renamed repository has its new name
    repository: named !== undefined && isRepository(named) ? named : asked.repository,
    revision,
    files: listed.flatMap(fileOf),
    license: license === undefined ? undefined : printable(license),
    changedOn: day !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(day) ? day : undefined,
  };
}

function fileOf(sibling: unknown): readonly RepositoryFile[] {
  const path = textIn(sibling, "rfilename");
  const large = memberOf(sibling, "lfs");
  const bytes = numberIn(large, "size") ?? numberIn(sibling, "size");
  if (path === undefined || bytes === undefined) return [];
  const sha256 = digest(textIn(large, "sha256") ?? textIn(large, "oid"), 64);
  const gitId = large === undefined || large === null ? digest(textIn(sibling, "blobId"), 40) : undefined;
  return sha256 === undefined && gitId === undefined ? [] : [{ path, bytes, sha256, gitId }];
}

function digest(text: string | undefined, digits: number): string | undefined {
  return text !== undefined && text.length === digits && /^[0-9a-f]*$/.test(text) ? text : undefined;
}

function textIn(value: unknown, name: string): string | undefined {
  const text = memberOf(value, name);
  return typeof text === "string" ? text : undefined;
}

function numberIn(value: unknown, name: string): number | undefined {
  const number = memberOf(value, name);
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

/** It is text of a stranger, printed on a terminal. */
export const printable = (text: string) => text.slice(0, 100).replaceAll(/[^\x20-\x7e]/g, "?");

function unreadable({ repository }: RepositoryName, what: string) {
  return failed(`the hub's answer about ${repository} has ${what}. Is HF_ENDPOINT the address of a hub?`);
}

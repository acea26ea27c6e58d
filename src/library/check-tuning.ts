import { modelFacts } from "../models/package/package.ts";
import { openServedManifest } from "../served-model.ts";
import { openTuning } from "../tuning/tuning.ts";
import { readTuningFiles } from "../tuning/tuning-files.ts";
import type { NamedModel } from "./check-request.ts";

/** A model on this machine and tuning files for it. */
export interface TunedModel extends NamedModel {
  readonly tuning: readonly string[];
}

/**
 * Checks, without loading the model, that it is on this machine and that the tuning files of `decision tune` belong to
 * it.
 *
 * @param flag the option's name in messages
 * @throws ServiceError INVALID_OPTION | INVALID_MODEL
 */
export async function checkTuning({ tuning, ...named }: TunedModel, flag = "--tuning"): Promise<void> {
  const model = modelFacts(await openServedManifest(named), named.alias ?? []);
  openTuning(await readTuningFiles(tuning, flag), model, flag);
}

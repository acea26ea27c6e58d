import { modelFacts } from "../models/package/package.ts";
import { openServedManifest } from "../served-model.ts";
import { openTuning } from "../tuning/tuning.ts";
import { readTuningFiles } from "../tuning/tuning-files.ts";
import type { NamedModel } from "./check-request.ts";

/** A model of this machine with the files that are to correct it. */
export interface TunedModel extends NamedModel {
  readonly tuning: readonly string[];
}

/**
 * Checks that a model is on this machine, and that files of `decision tune` belong to it, without loading the model.
 *
 * @param flag what messages call the option with the files
 * @throws ServiceError INVALID_OPTION | INVALID_MODEL
 */
export async function checkTuning({ tuning, ...named }: TunedModel, flag = "--tuning"): Promise<void> {
  const model = modelFacts(await openServedManifest(named), named.alias ?? []);
  openTuning(await readTuningFiles(tuning, flag), model, flag);
}

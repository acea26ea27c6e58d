/** The two inference operations, and the smallest request to each. */
export const SYSTEMONE = "/v1/systemone";
export const RANK = "/v1/rank";
export const NOUL = { type: "noul", instructions: "Is it late?" };
export const SMALL = { state: "The parcel is here.", questions: { q: NOUL } };
export const SMALL_RANK = { state: "The parcel is here.", candidates: ["early", "late"] };

/** Both operations, as cases of a check. */
export const OPERATIONS = [
  { name: SYSTEMONE, path: SYSTEMONE, body: SMALL },
  { name: RANK, path: RANK, body: SMALL_RANK },
] as const;

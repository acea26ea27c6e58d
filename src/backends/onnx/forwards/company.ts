/** Forests in a row without company after which callers are taken to come one at a time. Chosen. */
const FEW = 4;

/**
 * Whether requests come one at a time. Then a small forward may use all processors, which ends it somewhat sooner but takes half as much
 * processor time again. Under load this time is missing elsewhere, even if nothing else is there to compute at the moment.
 */
export class Company {
  #withoutInARow = FEW;

  /**
   * Notes a forest.
   *
   * @param hasCompany whether it holds several trees, or others were being computed
   * @returns          whether requests come one at a time
   */
  note(hasCompany: boolean): boolean {
    this.#withoutInARow = hasCompany ? 0 : this.#withoutInARow + 1;
    return this.#withoutInARow >= FEW;
  }
}

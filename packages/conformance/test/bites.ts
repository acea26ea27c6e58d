import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type Profile, runConformance } from "../src/index.ts";
import { UNOBSERVED } from "../src/run/unobserved.ts";
import { FaultyService, KEY } from "./faulty-service.ts";
import { areaOf, type PlantedFault } from "./planted-fault.ts";

/** Quick checks of every subject, which must pass with faults that they do not test. */
const BYSTANDERS = [
  ...["health.status", "health.ready", "health.metadata", "health.named-counters"],
  ...["health.schema", "health.limits", "models.list", "models.names-model", "models.schema"],
  ...["model.id-form", "model.full-id", "model.type", "systemone.temperature", "systemone.usage"],
  ...["systemone.latency", "systemone.answers", "systemone.schema", "rank.temperature"],
  ...["rank.usage", "rank.rows", "rank.schema", "rank.order", "rank.ranks", "rank.labels"],
  ...["arithmetic.softmax", "arithmetic.confidence", "arithmetic.choice", "arithmetic.noul"],
  ...["arithmetic.score", "order.answers", "usage.total", "usage.additive", "scores.order"],
  ...["scores.rank-as-rubric", "request.required", "request.unknown-field", "request.distinct"],
  ...["request.blank-one", "json.invalid", "alias.context", "alias.no-yes", "limits.levels"],
  ...["limits.pairs-refused", "texts.noul-default", "routes.operations", "routes.query"],
  ...["headers.request-id-new", "headers.server-timing", "media.json", "docs.openapi"],
  ...["errors.names-types", "wire.keep-alive", "wire.h2c", "auth.missing", "auth.open-routes"],
];
/** Each fault is tested with one part of them, since all would take minutes. */
const PARTS = 4;

/**
 * Plants each fault alone and checks the service against the contract or a dialect: the clauses that it breaks must
 * fail, and none of another area.
 */
export function describeFaults(
  title: string,
  faults: readonly PlantedFault[],
  profile: Profile = "full",
): void {
  const baseUrlOf = ({ url }: FaultyService) => (profile === "typesafe" ? `${url}/typesafe` : url);
  const isKeyed = profile === "typesafe" || profile === "rerank";
  describe(title, () => {
    let open: FaultyService;
    let keyed: FaultyService;
    before(async () => {
      [open, keyed] = await Promise.all([FaultyService.start(), FaultyService.start({ apiKey: KEY })]);
    });
    after(() => Promise.all([open.stop(), keyed.stop()]));

    it("the control: nothing fails without a fault", async () => {
      for (const [service, apiKey] of [
        [open, undefined],
        [keyed, KEY],
      ] as const) {
        const only = profile === "full" ? BYSTANDERS : [];
        const report = await runConformance({ baseUrl: baseUrlOf(service), profile, apiKey, only });
        assert.deepEqual(failedIds(report), []);
      }
    });

    for (const [index, { name, fault, breaks, unobserved, hasKey = isKeyed, only }] of faults.entries()) {
      it(`${name}: ${unobserved ?? breaks.join(", ")}`, async () => {
        assert.equal(
          breaks.length === 0,
          UNOBSERVED.some(({ rule }) => rule === unobserved),
        );
        const service = hasKey ? keyed : open;
        service.plant(fault);
        try {
          const isWhole = profile !== "full" && only === undefined;
          const bystanders = BYSTANDERS.filter((_, at) => at % PARTS === index % PARTS);
          const report = await runConformance({
            baseUrl: baseUrlOf(service),
            profile,
            apiKey: hasKey ? KEY : undefined,
            only: isWhole ? [] : (only ?? [...breaks, ...bystanders]),
          });
          const checked = new Set(report.results.map(({ id }) => id));
          const failed = failedIds(report);
          assert.deepEqual(
            breaks.filter((id) => checked.has(id) && !failed.includes(id)),
            [],
            `${name}: not caught`,
          );
          const areas = new Set(breaks.map(areaOf));
          assert.deepEqual(
            failed.filter((id) => !areas.has(areaOf(id))),
            [],
            `${name}: broken elsewhere`,
          );
        } finally {
          service.plant({});
        }
      });
    }
  });
}

function failedIds({ results }: Awaited<ReturnType<typeof runConformance>>): string[] {
  return results.filter(({ outcome }) => outcome === "failed").map(({ id }) => id);
}

// Which operations of the contract a program has asked, by the service's own count.

/** Reads the metrics themselves; it is counted as well, once the answer is gone. */
const READING = "getMetrics";

/** The answers of 200 so far, by operationId. */
export async function answeredOperations(url) {
  const text = await (await fetch(`${url}/metrics`)).text();
  const rows = text.matchAll(/^decision_requests_total\{operation="(\w+)",status="200"\} (\d+)$/gm);
  return new Map([...rows].map(([, operation, count]) => [operation, Number(count)]));
}

/** @param document the contract, parsed @returns the operationIds that had no answer of 200 between two counts */
export function unansweredOperations(document, before, after) {
  const operations = Object.values(document.paths).flatMap((path) =>
    Object.values(path).flatMap(({ operationId }) => operationId ?? []),
  );
  return operations.filter((name) => {
    const answers = (after.get(name) ?? 0) - (before.get(name) ?? 0);
    return answers <= (name === READING ? 1 : 0);
  });
}

import { useEffect, useState } from "preact/hooks";
import type { Failure } from "./service.ts";

/** What helps, by code; docs/errors.md has all. */
const REMEDIES: Readonly<Record<string, string>> = {
  KEY_MISSING: "Enter the key of this service under Key.",
  UNAUTHORIZED: "Enter the key of this service under Key.",
  BODY_TOO_LARGE: "Send a shorter state or fewer questions.",
  DEADLINE_EXCEEDED: "Send less at once, or raise --deadline-ms.",
  DRAINING: "Try again when it has restarted.",
};

/** An error other than a 422, with a button to ask again once that makes sense. */
export function FailureCard({
  failure,
  onRetry,
}: {
  readonly failure: Failure;
  readonly onRetry: () => void;
}) {
  const { code, status, message, requestId, retryAfterSeconds } = failure;
  const left = useCountdown(retryAfterSeconds ?? 0, failure);
  return (
    <div class="failure" role="alert">
      <p>
        <strong>{message}</strong>
      </p>
      {REMEDIES[code] !== undefined && <p>{REMEDIES[code]}</p>}
      <p class="quiet">
        <code>{code}</code>
        {status !== undefined && ` · status ${status}`}
        {requestId !== "" && (
          <>
            {" · request "}
            <code>{requestId}</code>
          </>
        )}
      </p>
      <button type="button" disabled={left > 0} onClick={onRetry}>
        {left > 0 ? `Ask again in ${left} s` : "Ask again"}
      </button>
    </div>
  );
}

/** Seconds that are left, from each new failure on. */
function useCountdown(seconds: number, since: Failure): number {
  const [left, setLeft] = useState(seconds);
  useEffect(() => {
    setLeft(seconds);
    const timer = setInterval(() => setLeft((before) => Math.max(0, before - 1)), 1000);
    return () => clearInterval(timer);
  }, [since, seconds]);
  return left;
}

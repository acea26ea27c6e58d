/**
 * Content-Security-Policy of a documentation page: nothing may come from, or go to, another host.
 *
 * @param extra further directives that the page's bundle needs
 */
export function pagePolicy(...extra: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:", // both bundles carry their icons
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    ...extra,
  ].join("; ");
}

/**
 * Content-Security-Policy of a documentation page: nothing may be loaded from or sent to another host.
 *
 * @param extra further directives that the page's bundle needs
 */
export function pagePolicy(...extra: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:", // both bundles contain their icons as data: URLs
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    ...extra,
  ].join("; ");
}

import { memberOf } from "../../records.ts";

/**
 * Whether the patterns of a tokenizer.json are of a kind whose time is bounded. The library ends the process where a
 * pattern takes too many steps for a text, such as `(a+)+$` for 40 letters.
 *
 * Such a pattern consists of alternatives of classes of characters, with at most one count in each. An alternative that
 * matches only places begins with what stands before the place: the library crashes if such a place is the beginning of
 * a text.
 */
export function hasClassPatternsOnly(file: unknown): boolean {
  return [memberOf(file, "normalizer"), memberOf(file, "pre_tokenizer")].flatMap(patterns).every(isBounded);
}

/** The patterns of a step and of the steps in it. */
function patterns(step: unknown): readonly unknown[] {
  const inner = memberOf(step, "normalizers") ?? memberOf(step, "pretokenizers");
  const own = memberOf(memberOf(step, "pattern"), "Regex");
  return [...(own === undefined ? [] : [own]), ...(Array.isArray(inner) ? inner.flatMap(patterns) : [])];
}

const isBounded = (pattern: unknown) => typeof pattern === "string" && CLASS_PATTERN.test(pattern);

const CLASS_PATTERN = classPatternGrammar();

function classPatternGrammar(): RegExp {
  const code = "\\\\(?:u[0-9A-F]{4}|[sS]|p\\{[A-Z][a-z]?\\})";
  const atom = `(?:\\[\\^?(?:${code}|[^\\\\[\\]])+\\]|${code}|[^\\\\()[\\]{}|.*+?^$])`;
  const around = `\\(\\?<?[=!]${atom}\\)`;
  const count = "(?:\\+|\\{\\d+(?:,\\d+)?\\})";
  const place = `\\(\\?<=${atom}\\)${around}`;
  const characters = `(?:${around})*${atom}+(?:${count}${atom}*)?(?:${around})*`;
  const alternative = `(?:${place}|${characters})`;
  return new RegExp(`^${alternative}(?:\\|${alternative})*$`, "u");
}

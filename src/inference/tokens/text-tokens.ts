import type { Encoding } from "tokenizers";
import type { TextTokens } from "../../decisions/text-tokens.ts";

/** The tokens of a text as the library gives them. It counts characters by code point. To read many places is slow, so they are read when asked for. */
export function textTokensOf(encoding: Encoding): TextTokens {
  return {
    count: encoding.getLength(),
    ends: () => encoding.getOffsets().map(([, end = 0]) => end),
  };
}

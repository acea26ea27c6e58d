import type { Encoding } from "tokenizers";
import type { TextTokens } from "../../decisions/text-tokens.ts";

/** The tokens of a text. The library's offsets count code points. They are read on demand, because reading many is slow. */
export function textTokensOf(encoding: Encoding): TextTokens {
  return {
    count: encoding.getLength(),
    ends: () => encoding.getOffsets().map(([, end = 0]) => end),
  };
}

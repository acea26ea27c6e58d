import { nativeBackend } from "../support/tested-backends.ts";
import { testEnds } from "./ending-process.ts";

testEnds(nativeBackend);

import { nativeBackend } from "../support/tested-backends.ts";
import { testEnds, testProgramEnds } from "./ending-process.ts";

testEnds(nativeBackend);
testProgramEnds(nativeBackend);

import { nativeBackend } from "../support/tested-backends.ts";
import { testHangs, testOtherHangs } from "./hanging-process.ts";

testHangs(nativeBackend);
testOtherHangs(nativeBackend);

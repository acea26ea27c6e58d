import { nativeBackend } from "../support/tested-backends.ts";
import { testHangs } from "./hanging-process.ts";

testHangs(nativeBackend);

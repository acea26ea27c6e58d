import { onnxBackend } from "../support/tested-backends.ts";
import { testOtherHangs } from "./hanging-process.ts";

testOtherHangs(onnxBackend);

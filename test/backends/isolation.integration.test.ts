import { onnxBackend } from "../support/tested-backends.ts";
import { testHangs } from "./hanging-process.ts";

testHangs(onnxBackend);

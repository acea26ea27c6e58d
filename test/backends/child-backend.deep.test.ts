import { onnxBackend } from "../support/tested-backends.ts";
import { testProgramEnds } from "./ending-process.ts";

testProgramEnds(onnxBackend);

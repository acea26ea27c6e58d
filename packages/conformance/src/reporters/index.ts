export { githubAnnotations } from "./github.ts";
export { jsonReport } from "./json.ts";
export { junitReport } from "./junit.ts";
export { progressLine, terminalReport } from "./terminal.ts";

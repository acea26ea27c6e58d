export { githubAnnotations } from "./github.ts";
export { htmlReport } from "./html.ts";
export { jsonReport } from "./json.ts";
export { junitReport } from "./junit.ts";
export { sarifReport } from "./sarif.ts";
export { tapReport } from "./tap.ts";
export { progressLine, terminalReport } from "./terminal.ts";

import { invalidOption } from "../errors.ts";
import { isLoopback } from "./exposure.ts";
import type { ServiceOptions } from "./table.ts";

/**
 * What each backend takes of the options whose values depend on it. A device with a number counts as the one without.
 */
const TAKEN: Readonly<Record<ServiceOptions["backend"], Readonly<Record<Dependent, readonly string[]>>>> = {
  native: { device: ["cpu", "cuda", "mps", "auto"], precision: ["auto", "fp32", "bf16", "fp16"] },
  onnx: { device: ["cpu", "cuda", "coreml", "webgpu", "auto"], precision: ["auto", "int8", "fp32"] },
  remote: { device: ["cpu"], precision: ["auto", "int8", "fp32", "bf16", "fp16"] },
};
type Dependent = "device" | "precision";

/**
 * Refuses values that the chosen backend does not take.
 *
 * @param nameOf what the operator has written: a flag, a variable, a member of a file
 * @throws ServiceError INVALID_OPTION
 */
export function checkBackend(options: ServiceOptions, nameOf: (option: Dependent) => string): void {
  const { backend } = options;
  for (const option of ["device", "precision"] as const) {
    const value = options[option];
    const takes = (name: keyof typeof TAKEN) => {
      if (name === "onnx" && value.includes(":")) return false; // CUDA_VISIBLE_DEVICES chooses its GPU
      return TAKEN[name][option].includes(value.replace(/:\d+$/, ""));
    };
    if (takes(backend)) continue;
    const others = (Object.keys(TAKEN) as (keyof typeof TAKEN)[]).filter(takes).join(" or ");
    const remedy = others === "" ? "" : `; ${others} takes it`;
    throw invalidOption(
      `${nameOf(option)} ${value} is not for the backend ${backend}, which takes ${TAKEN[backend][option].join(", ")}${remedy}.`,
    );
  }
  checkRemote(options);
}

/** @throws ServiceError INVALID_OPTION */
function checkRemote({ backend, remoteUrl, offline }: ServiceOptions): void {
  if (backend !== "remote") {
    if (remoteUrl === "") return;
    throw invalidOption(`--remote-url is for the backend remote, not ${backend}: pass --backend remote.`);
  }
  const url = URL.canParse(remoteUrl) ? new URL(remoteUrl) : undefined;
  const isPlain = url?.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (!isPlain || !/^https?:$/.test(url.protocol))
    throw invalidOption(
      "--backend remote needs --remote-url: the http or https address of a server without name, password and query, such as http://127.0.0.1:8000.",
    );
  if (offline && !isLoopback(url.hostname.replace(/^\[(.*)\]$/, "$1")))
    throw invalidOption("--remote-url names another host, which --offline forbids: leave one of them out.");
}

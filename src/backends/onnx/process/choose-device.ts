import { fork } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { ServiceError } from "../../../errors.ts";
import { ONNX_DEVICES, type OnnxDevice } from "../runtime/session-options.ts";
import type { TrialReply, TrialRequest, TrialRun, TriedModel } from "./device-trial.ts";
import { processEnvironment } from "./process-environment.ts";

/** The reply of a trial process, or how the process ended if it did not reply. */
export interface Trial extends TrialReply {
  readonly stderr: string;
  readonly end?: string;
}
export type TryIt = (request: TrialRequest) => Promise<Trial>;

/** Whether a device can be used, and if not, why. */
export interface DeviceFact {
  readonly device: OnnxDevice;
  readonly isAvailable: boolean;
  readonly reason?: string;
}

/** Time limit of a device's trial. Chosen: a driver compiles kernels when it first starts. */
const DEVICE_MS = 60_000;
const MODEL_MS = 300_000;
/**
 * Largest difference of a score to the reference, in temperatures. Chosen: a probability then differs by at most a quarter of a
 * percentage point.
 */
const TOLERANCE = 0.005;

/** The devices of ONNX Runtime and whether each can be used here. Each trial runs in a process of its own. @param tryIt replaced in tests */
export function onnxDevices(tryIt: TryIt = tryInProcess): Promise<DeviceFact[]> {
  return Promise.all(ONNX_DEVICES.map((device) => deviceFact(device, tryIt)));
}

async function deviceFact(device: OnnxDevice, tryIt: TryIt): Promise<DeviceFact> {
  const reason = device === "cpu" ? undefined : faultOf(device, await tryIt({ device }));
  return { device, isAvailable: reason === undefined, ...(reason !== undefined && { reason }) };
}

/** Why a device cannot be used; undefined if it can. */
function faultOf(
  device: OnnxDevice,
  { isListed, missingLibrary, error, stderr, end }: Trial,
): string | undefined {
  if (isListed === false)
    return `the installed onnxruntime-node has no ${NAMES[device]} for ${process.platform}/${process.arch}`;
  if (missingLibrary !== undefined) return `the provider is not installed: ${missingLibrary} does not exist`;
  if (end !== undefined) return end;
  if (error === undefined) return undefined;
  // if the library depends on a missing one, only stderr has its name
  const cause = /with error: [^\n]*?([^\s/]+: cannot open shared object file)/.exec(stderr)?.[1];
  if (cause !== undefined) return `the provider's library cannot be loaded: ${cause}`;
  if (/No supported adapters/.test(error))
    return /Couldn't load Vulkan: (\S+):/.test(stderr)
      ? "no GPU adapter was found: the Vulkan loader (libvulkan.so.1) is not installed"
      : "no GPU adapter was found";
  return oneLine(error);
}

const NAMES: Readonly<Record<OnnxDevice, string>> = {
  cpu: "CPU",
  cuda: "CUDA",
  coreml: "CoreML",
  webgpu: "WebGPU",
};

/** A model, and the device that the operator has named for it. */
export interface DeviceWish extends TriedModel {
  readonly device: string;
}

/**
 * The device to compute on. `auto` takes the first device that passes a trial, else the CPU. In a trial the model's scores must be
 * right, and must not take longer than on one processor: the runtime computes operators that a device lacks on the CPU.
 *
 * @param log   receives the reason why `auto` skips a device
 * @param tryIt replaced in tests
 * @throws ServiceError INVALID_OPTION with the reason why the device cannot be used, and the devices that can
 */
export async function chooseDevice(
  wish: DeviceWish,
  log: (event: string, details: Record<string, unknown>) => void,
  tryIt: TryIt = tryInProcess,
): Promise<OnnxDevice> {
  if (wish.device === "cpu") return "cpu";
  const others = ONNX_DEVICES.filter((device) => device !== "cpu");
  const wanted = others.find((device) => device === wish.device);
  if (wanted === undefined && wish.device !== "auto")
    throw invalid(
      `the onnx backend supports cpu, auto, ${others.join(", ")}, not ${JSON.stringify(wish.device)}.`,
    );
  for (const device of wanted === undefined ? others : [wanted]) {
    const { modelPackage, precision, hasVectors } = wish;
    const trial = await tryIt({ device, model: { modelPackage, precision, hasVectors } });
    const reason = faultOf(device, trial) ?? modelFault(trial, wish);
    if (reason === undefined) return device;
    if (wanted !== undefined)
      throw invalid(`${device} cannot be used: ${reason}. ${await available(device, tryIt)}`);
    log("device skipped", { device, reason });
  }
  return "cpu";
}

async function available(unusable: OnnxDevice, tryIt: TryIt): Promise<string> {
  const facts = await onnxDevices(tryIt);
  const names = facts.filter(({ device, isAvailable }) => isAvailable && device !== unusable);
  return `Available here: ${names.map(({ device }) => device).join(", ")}.`;
}

/** Why a device that works cannot compute this model; undefined if it can. */
function modelFault(
  { onDevice = NOTHING, onCpu = NOTHING }: Trial,
  { modelPackage, precision }: DeviceWish,
): string | undefined {
  const difference = largestDifference(onCpu.scores, onDevice.scores);
  const limit = TOLERANCE * modelPackage.manifest.temperature;
  if (!(difference <= limit))
    return `it computes wrong scores: one differs from the CPU's by ${difference.toPrecision(2)}, at most ${limit.toPrecision(2)} is allowed`;
  if (onDevice.ms <= onCpu.ms) return undefined;
  const [slow, fast] = [onDevice.ms, onCpu.ms].map((ms) => Math.ceil(ms));
  return `it takes ${slow} ms for pairs that one processor computes in ${fast} ms; it may lack operators of this model in ${precision}, which then run on the CPU`;
}

const NOTHING: TrialRun = { scores: [], ms: Number.NaN };

/** The largest absolute difference. NaN if there are no scores, or one is missing or not a number. */
function largestDifference(wanted: readonly number[], got: readonly number[]): number {
  if (wanted.length !== got.length || wanted.length === 0) return Number.NaN;
  return Math.max(...wanted.map((score, at) => Math.abs(score - (got[at] ?? Number.NaN))));
}

const invalid = (message: string) => new ServiceError("INVALID_OPTION", `--device: ${message}`);

/** The first line of a message of ONNX Runtime, without the source location at its start. */
function oneLine(message: string): string {
  const line = message.trim().split("\n")[0] ?? "";
  return line.replace(/^\/\S+:\d+ .* was false\. /, "").replace(/\.$/, "");
}

const entry = fileURLToPath(new URL(`./device-trial${import.meta.url.slice(-3)}`, import.meta.url));
const execArgv = entry.endsWith(".ts") ? ["--import", import.meta.resolve("tsx")] : [];

/** Runs a trial in a process, which is killed once it has replied or when its time is up. */
async function tryInProcess(request: TrialRequest): Promise<Trial> {
  const child = fork(entry, [], {
    serialization: "advanced",
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    execArgv,
    env: processEnvironment(process.env),
  });
  const stderr = child.stderr ? text(child.stderr) : Promise.resolve("");
  const ms = request.model ? MODEL_MS : DEVICE_MS;
  const reply = await new Promise<Omit<Trial, "stderr">>((resolve) => {
    const timer = setTimeout(() => resolve({ end: `it did not answer within ${ms / 1000} s` }), ms);
    const settle = (outcome: Omit<Trial, "stderr">) => {
      clearTimeout(timer);
      resolve(outcome);
    };
    child.on("message", (message: TrialReply) => settle(message));
    child.on("error", ({ message }) => settle({ end: `its process could not be started: ${message}` }));
    child.on("exit", (code, signal) =>
      settle({ end: `its process ended (${signal ?? `exit code ${code}`})` }),
    );
    child.send(request, (error) => {
      if (error) settle({ end: `its process could not be reached: ${error.message}` });
    });
  });
  child.kill("SIGKILL");
  return { ...reply, stderr: await stderr };
}

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { environment, ROOT, SHARED_MEMORY } from "./processes.mjs";

/** Triton from nvidia-pytriton. It has no onnxruntime backend and therefore uses deploy/triton/model.py. */
function triton(folder, port, model, [python]) {
  const repository = path.join(folder, "repository");
  exportModel("triton", model, repository);
  const config = path.join(repository, model.name, "config.pbtxt");
  const text = fs.readFileSync(config, "utf8");
  const own = text.replace(
    'backend: "onnxruntime"\ndefault_model_filename: "model.onnx"',
    'backend: "python"',
  );
  assert.notEqual(own, text, "config.pbtxt names its backend");
  fs.writeFileSync(config, own);
  fs.copyFileSync(path.join(ROOT, "deploy/triton/model.py"), path.join(repository, model.name, "1/model.py"));
  return tritonServer(folder, repository, port, python, python);
}

/** Triton with the backend native. */
function tritonNative(folder, port, model, [python, torch]) {
  assert.equal(torch.version, python.version, "both have the same Python version");
  const repository = path.join(folder, "repository");
  exportModel("triton", model, repository, ["--backend", "native"]);
  return tritonServer(folder, repository, port, python, torch);
}

/** @param model facts about the Python that computes */
function tritonServer(folder, repository, port, { libraries, site, version }, model) {
  // the layout of nvidia-pytriton: server and backend in one folder, with the stub for this Python
  const home = path.join(site, "pytriton/tritonserver");
  const backends = path.join(folder, "backends");
  fs.cpSync(path.join(home, "backends/python"), path.join(backends, "python"), { recursive: true });
  const stub = path.join(backends, "python/triton_python_backend_stub");
  fs.copyFileSync(path.join(home, "python_backend_stubs", version, path.basename(stub)), stub);
  const program = path.join(folder, "tritonserver");
  fs.copyFileSync(path.join(home, "bin/tritonserver"), program);
  for (const file of [stub, program]) fs.chmodSync(file, 0o755);
  const args = ["--model-repository", repository, "--backend-directory", backends, "--allow-grpc", "false"];
  args.push("--http-address", "127.0.0.1", "--http-port", String(port), "--allow-metrics", "false");
  args.push("--backend-config", `python,shm-region-prefix-name=${SHARED_MEMORY}`);
  const { PATH, LD_LIBRARY_PATH = "" } = process.env;
  const env = {
    PATH: `${path.dirname(model.executable)}:${PATH}`,
    PYTHONPATH: model.site,
    LD_LIBRARY_PATH: [libraries, path.join(site, "nvidia_pytriton.libs"), LD_LIBRARY_PATH].join(":"),
  };
  return { program, args, env, log: path.join(folder, "log") };
}

/** KServe. It listens on every address of the machine and has no setting to change that. */
function kserve(folder, port, model, [{ executable }]) {
  const served = path.join(folder, model.name);
  exportModel("onnx", model, served);
  const args = [path.join(ROOT, "deploy/kserve/decision_kserve.py"), "--model_name", model.name];
  args.push("--model_dir", served, "--http_port", String(port), "--enable_grpc", "false");
  return { program: executable, args, env: {}, log: path.join(folder, "log") };
}

function exportModel(format, { name, folder, precision }, output, more = []) {
  const args = ["bin/decision.js", "model", "export", "--format", format, "--output", output];
  args.push("--name", name, "--precision", precision, "--model-path", folder, ...more);
  execFileSync(process.execPath, args, {
    cwd: ROOT,
    env: environment(),
    stdio: ["ignore", "ignore", "inherit"],
  });
}

const REMOTE = "REMOTE_PYTHON";

/**
 * Description of each server: packages of its Pythons by environment variable, the computing backend, its precisions,
 * the profile to check (default: full), and how to start it for a model.
 *
 * `serve` gets a new folder, a port, a model (its name on the server, the folder of its package and the precision), and
 * facts about the Pythons.
 */
export const SERVERS = {
  triton: {
    pythons: { [REMOTE]: ["nvidia-pytriton", "onnxruntime"] },
    backend: "onnx",
    precisions: ["int8", "fp32"],
    serve: triton,
  },
  "triton-native": {
    pythons: { [REMOTE]: ["nvidia-pytriton"], DECISION_PYTHON: ["torch", "numpy"] },
    backend: "native",
    precisions: ["fp32", "bf16"],
    profile: "seed", // batched scores differ by rounding
    serve: tritonNative,
  },
  kserve: {
    pythons: { KSERVE_PYTHON: ["kserve", "onnxruntime"] },
    backend: "onnx",
    precisions: ["int8", "fp32"],
    serve: kserve,
  },
};

/** Facts about the Pythons of a server. @throws Error that names missing packages */
export const pythonsOf = (name) =>
  Object.entries(SERVERS[name].pythons).map(([variable, packages]) => pythonOf(variable, packages));

function pythonOf(variable, needed) {
  const executable = process.env[variable] || process.env[REMOTE] || "python3";
  const code = `
import importlib.metadata as packages, json, sys, sysconfig
versions = {}
for name in sys.argv[1:]:
    try:
        versions[name] = packages.version(name)
    except packages.PackageNotFoundError:
        sys.exit("has no package " + name)
print(json.dumps({
    "versions": versions, "site": sysconfig.get_path("platlib"), "libraries": sysconfig.get_config_var("LIBDIR"),
    "version": "%d.%d" % sys.version_info[:2]}))`;
  const { error, status, stdout, stderr } = spawnSync(executable, ["-c", code, ...needed], {
    encoding: "utf8",
  });
  if (status !== 0)
    throw new Error(
      `${executable}: ${error?.message ?? stderr.trim()}. ${variable} must be a Python with ${needed.join(", ")}.`,
    );
  return { ...JSON.parse(stdout), executable };
}

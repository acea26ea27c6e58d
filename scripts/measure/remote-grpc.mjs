/**
 * Compares HTTP with binary tensors, as the backend `remote` uses it, with gRPC: the same forwards to the same Triton,
 * which this script starts.
 *
 *     npm install --prefix FOLDER @grpc/grpc-js@1.14.7
 *     npm run build
 *     REMOTE_PYTHON=... node --import tsx scripts/measure/remote-grpc.mjs --grpc-js FOLDER [--rounds 7] [--seconds 2]
 * [--in-flight 1,4]
 *
 * REMOTE_PYTHON has nvidia-pytriton and onnxruntime. The two alternate every --seconds; a ratio compares two turns of
 * one round. CPU is the processor time of this process, which does the service's work for a forward: it creates the
 * tensors, sends them and reads the scores.
 */
import { createRequire } from "node:module";
import path from "node:path";
import { parseArgs } from "node:util";
import protobuf from "protobufjs";
import { median, quantile, ratios, spreadOf } from "../../bench/measure/statistics.ts";
import { Random } from "../../bench/random.ts";
import { stateKey } from "../../src/backends/kept-states.ts";
import { RemoteClient } from "../../src/backends/remote/client.ts";
import { DATATYPES, decodeAnswer, encodeRequest, JSON_LENGTH } from "../../src/backends/remote/protocol.ts";
import { planWhole } from "../../src/backends/tensors/whole-forwards.ts";
import { wholeInputs } from "../../src/backends/tensors/whole-inputs.ts";
import { wholeGraph } from "../../src/models/graph/whole-graph.ts";
import { openModelPackage } from "../../src/models/package/package.ts";
import { freePort, ROOT, scratch, start, statusOf, until } from "../remote/processes.mjs";
import { pythonsOf, SERVERS } from "../remote/servers.mjs";

const { values: flags } = parseArgs({
  options: {
    "grpc-js": { type: "string" },
    rounds: { type: "string", default: "7" },
    seconds: { type: "string", default: "2" },
    "in-flight": { type: "string", default: "1,4" },
  },
});
if (flags["grpc-js"] === undefined)
  throw new Error("--grpc-js must be a folder with @grpc/grpc-js in node_modules");
const grpc = createRequire(path.resolve(flags["grpc-js"], "package.json"))("@grpc/grpc-js");

/**
 * Tokens of the state and of one question's candidates: a short request, a usual one, and the longest forward without a
 * long state.
 */
const SHAPES = [
  { name: "one pair", state: 20, candidates: [3, 3] },
  { name: "short", state: 60, candidates: [8, 8, 8] },
  { name: "long", state: 500, candidates: Array.from({ length: 40 }, () => 10) },
];
const MODEL = { name: "twig", folder: path.join(ROOT, "model"), precision: "int8" };
const OUTPUTS = ["scores", "digest"];
/** The parts of the protocol's messages that a forward needs. https://github.com/kserve/open-inference-protocol */
const { root } = protobuf.parse(
  `syntax = "proto3"; package inference;
message Tensor { string name = 1; string datatype = 2; repeated int64 shape = 3; }
message Output { string name = 1; }
message ModelInferRequest { string model_name = 1; repeated Tensor inputs = 5; repeated Output outputs = 6; repeated bytes raw_input_contents = 7; }
message ModelInferResponse { repeated Tensor outputs = 5; repeated bytes raw_output_contents = 6; }`,
  { keepCase: true },
);
const [Request, Response] = ["ModelInferRequest", "ModelInferResponse"].map((name) =>
  root.lookupType(`inference.${name}`),
);

const modelPackage = await openModelPackage(MODEL.folder);
const { shape } = await wholeGraph(modelPackage, MODEL.precision);
const [port, grpcPort] = [await freePort(), await freePort()];
const server = SERVERS.triton.serve(path.join(scratch, "triton"), port, MODEL, pythonsOf("triton"));
const noGrpc = server.args.indexOf("--allow-grpc");
server.args.splice(noGrpc, 2, "--grpc-address", "127.0.0.1", "--grpc-port", String(grpcPort));
const url = `http://127.0.0.1:${port}`;
const running = start(server);
await until(
  "Triton is ready",
  async () => (await statusOf(`${url}/v2/models/${MODEL.name}/ready`)) === 200,
  running,
);

const http = new RemoteClient({ url, connections: 16, timeoutMs: 30_000, connectTimeoutMs: 5_000 });
const channel = new grpc.Client(`127.0.0.1:${grpcPort}`, grpc.credentials.createInsecure());

const WAYS = {
  http: async (inputs) => {
    const { headers, bytes } = encodeRequest(inputs, OUTPUTS, true);
    const answer = await http.post(`/v2/models/${MODEL.name}/infer`, headers, bytes);
    if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.body}`);
    return decodeAnswer(answer.body, Number(answer.header(JSON_LENGTH))).get("scores").data;
  },
  grpc: async (inputs) => {
    const message = {
      model_name: MODEL.name,
      inputs: Object.entries(inputs).map(([name, { type, dims }]) => ({
        name,
        datatype: DATATYPES[type],
        shape: dims,
      })),
      outputs: OUTPUTS.map((name) => ({ name })),
      raw_input_contents: Object.values(inputs).map(
        ({ data }) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
      ),
    };
    const answer = await new Promise((resolve, reject) =>
      channel.makeUnaryRequest(
        "/inference.GRPCInferenceService/ModelInfer",
        (value) => Buffer.from(Request.encode(value).finish()),
        (bytes) => Response.decode(bytes),
        message,
        (error, value) => (error ? reject(error) : resolve(value)),
      ),
    );
    const at = answer.outputs.findIndex(({ name }) => name === "scores");
    return new Float32Array(new Uint8Array(answer.raw_output_contents[at]).buffer);
  },
};

function forwardOf({ state, candidates }) {
  const random = new Random(1);
  const tokens = (count) =>
    Int32Array.from({ length: count }, () => 1_000 + Math.floor(random.next() * 20_000));
  const tree = {
    state: tokens(state),
    questions: [{ tokens: tokens(10), candidates: candidates.map(tokens) }],
  };
  const { forwards } = planWhole([tree], stateKey, 1);
  if (forwards.length !== 1) throw new Error(`${forwards.length} forwards instead of one`);
  return forwards[0];
}

/** @returns forwards per second; latency and CPU time of a forward in ms */
async function turn(way, forward, inFlight, ms) {
  const latencies = [];
  const began = performance.now();
  const before = process.cpuUsage();
  const caller = async () => {
    while (performance.now() - began < ms) {
      const sent = performance.now();
      await way(wholeInputs(forward, shape));
      latencies.push(performance.now() - sent);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  const { user, system } = process.cpuUsage(before);
  return {
    rate: (1_000 * latencies.length) / (performance.now() - began),
    p50: median(latencies),
    p99: quantile(latencies, 0.99),
    cpu: (user + system) / 1_000 / latencies.length,
  };
}

for (const each of SHAPES) {
  const forward = forwardOf(each);
  const [left, right] = [
    await WAYS.http(wholeInputs(forward, shape)),
    await WAYS.grpc(wholeInputs(forward, shape)),
  ];
  if (Buffer.compare(Buffer.from(left.buffer), Buffer.from(right.buffer)) !== 0)
    throw new Error("the scores differ");
  const sent = encodeRequest(wholeInputs(forward, shape), OUTPUTS, true).bytes.length;
  for (const inFlight of flags["in-flight"].split(",").map(Number)) {
    const turns = { http: [], grpc: [] };
    for (const way of Object.values(WAYS)) await turn(way, forward, inFlight, 500);
    for (let round = 0; round < Number(flags.rounds); round++)
      for (const [name, way] of Object.entries(WAYS))
        turns[name].push(await turn(way, forward, inFlight, 1_000 * Number(flags.seconds)));
    console.log(`${each.name} (${sent} bytes), ${inFlight} in flight`);
    const of = (name, what) => turns[name].map((one) => one[what]);
    for (const name of Object.keys(WAYS))
      console.log(
        `  ${name}: ${median(of(name, "rate")).toFixed(0)} forwards/s, p50 ${median(of(name, "p50")).toFixed(2)} ms, ` +
          `p99 ${median(of(name, "p99")).toFixed(2)} ms, CPU ${median(of(name, "cpu")).toFixed(3)} ms`,
      );
    for (const what of ["rate", "cpu"]) {
      const { median: middle, q1, q3 } = spreadOf(ratios(of("grpc", what), of("http", what)));
      console.log(
        `  ${what} of grpc / http: ${middle.toFixed(2)} (quartiles ${q1.toFixed(2)} to ${q3.toFixed(2)})`,
      );
    }
  }
}
channel.close();
await http.close();
process.exit(0);

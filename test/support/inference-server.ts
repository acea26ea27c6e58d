import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { InferenceSession, Tensor } from "../../src/backends/onnx/runtime/runtime.ts";
import { sessionOptions } from "../../src/backends/onnx/runtime/session-options.ts";
import { DATATYPES } from "../../src/backends/remote/protocol.ts";

const TYPES = Object.fromEntries(Object.entries(DATATYPES).map(([type, name]) => [name, type]));
const ARRAYS = { INT32: Int32Array, INT64: BigInt64Array, BOOL: Uint8Array } as const;

/** Faults of a server. */
export interface Misbehaviour {
  /** Instead of the answer to an inference; false goes on as usual. */
  readonly infer?: (count: number, response: ServerResponse, asked: Asked) => boolean | Promise<boolean>;
  /** Changes the JSON of an answer. */
  readonly answer?: (outputs: Output[]) => void;
  readonly isBinary?: boolean;
  /** Certificate and key (PEM), for https. */
  readonly tls?: { readonly cert: string; readonly key: string };
}
/** The JSON of a request for inference. */
interface Asked {
  readonly inputs: readonly {
    readonly name: string;
    readonly shape: readonly number[];
    readonly datatype: string;
    readonly data?: number[];
    readonly parameters: { readonly binary_data_size: number };
  }[];
  readonly outputs: readonly { readonly name: string }[];
}
interface Output {
  name: string;
  datatype: string;
  shape: number[];
  data?: number[];
}

const sessions = new Map<string, Promise<InferenceSession>>();

/** The session of a file, which takes as long to start as it takes to score some dozen pairs. */
function sessionOf(file: string): Promise<InferenceSession> {
  const session = sessions.get(file) ?? InferenceSession.create(file, sessionOptions(1));
  sessions.set(file, session);
  return session;
}

/** A server of the Open Inference Protocol over a graph that holds whole trees. */
export async function serveGraph(file: string, how: Misbehaviour = {}) {
  const session = await sessionOf(file);
  const seen: IncomingMessage["headers"][] = [];
  let isReady = true;
  const listener = (request: IncomingMessage, response: ServerResponse) => void reply(request, response);
  const server = how.tls ? createSecureServer(how.tls, listener) : createServer(listener);
  const tell = (response: ServerResponse, value: unknown, status = 200) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));

  async function reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.url === "/v2") {
      tell(response, { name: "test", extensions: how.isBinary === false ? [] : ["binary_tensor_data"] });
    } else if (request.url === "/v2/models/decision/ready") response.writeHead(isReady ? 200 : 503).end();
    else if (request.url === "/v2/models/decision/infer") {
      seen.push(request.headers);
      const body = Buffer.concat(chunks);
      const header = request.headers["inference-header-content-length"];
      const length = header === undefined ? body.length : Number(header);
      const asked: Asked = JSON.parse(body.subarray(0, length).toString());
      if (await how.infer?.(seen.length, response, asked)) return;
      await infer(asked, body.subarray(length), response);
    } else response.writeHead(404).end();
  }

  async function infer(asked: Asked, binary: Buffer, response: ServerResponse): Promise<void> {
    let at = 0;
    const feeds: Record<string, Tensor> = {};
    for (const { name, shape, datatype, data, parameters } of asked.inputs) {
      const Kind = ARRAYS[datatype as keyof typeof ARRAYS];
      let values: Int32Array | BigInt64Array | Uint8Array;
      if (data)
        values =
          datatype === "INT64" ? BigInt64Array.from(data, BigInt) : new (Kind as Int32ArrayConstructor)(data);
      else {
        values = new Kind(new Uint8Array(binary.subarray(at, at + parameters.binary_data_size)).buffer);
        at += parameters.binary_data_size;
      }
      feeds[name] = new Tensor(TYPES[datatype] as "int32", values as Int32Array, shape);
    }
    const names = asked.outputs.map(({ name }) => name);
    const results = await session.run(feeds, names);
    const outputs = names.map((name): Output => {
      const { data, dims } = results[name] as Tensor;
      const datatype = data instanceof Float32Array ? "FP32" : "UINT8";
      return { name, datatype, shape: [...dims], data: Array.from(data as Float32Array) };
    });
    how.answer?.(outputs);
    if (how.isBinary === false || how.answer) {
      tell(response, { outputs });
      return;
    }
    const parts: Buffer[] = [];
    const described = outputs.map(({ data = [], ...rest }) => {
      const bytes = Buffer.from(
        rest.datatype === "FP32" ? Float32Array.from(data).buffer : Uint8Array.from(data).buffer,
      );
      parts.push(bytes);
      return { ...rest, parameters: { binary_data_size: bytes.length } };
    });
    const json = Buffer.from(JSON.stringify({ outputs: described }));
    response.writeHead(200, { "inference-header-content-length": json.length });
    response.end(Buffer.concat([json, ...parts]));
  }

  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    url: `${how.tls ? "https" : "http"}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    setReady(value: boolean) {
      isReady = value;
    },
    kill: async () => {
      const closed = new Promise((resolve) => void server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

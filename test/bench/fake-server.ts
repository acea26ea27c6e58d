import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * How a request ends: an answer with this status, a correct one that closes the connection, a wrong one, a broken
 * connection, or no answer.
 */
export type Fate = number | "last" | "wrong" | "cut" | "silent";

export interface FakeServer {
  readonly url: string;
  /** Paths of the received requests, without /health. */
  readonly paths: readonly string[];
  close(): Promise<void>;
}

/**
 * A server of the contract for rankings, with equal scores for all candidates.
 *
 * @param fateOf the fate of a request by its number from 0; requests to /health are not counted and have their own
 */
export async function startFakeServer(
  fateOf: (index: number) => Fate,
  { healthOf = () => 200 }: { readonly healthOf?: () => Fate } = {},
): Promise<FakeServer> {
  const paths: string[] = [];
  const server = createServer(async (request, response) => {
    const path = request.url ?? "";
    if (path.endsWith("/health")) return answer(healthOf(), HEALTH, request, response);
    const fate = fateOf(paths.length);
    paths.push(path);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    answer(fate, ranking(Buffer.concat(chunks).toString()), request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    paths,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const HEALTH = { model: "acme/other@1", precision: "fp32", version: "1.0.0" };

function answer(fate: Fate, body: object, request: IncomingMessage, response: ServerResponse): void {
  if (fate === "silent") return;
  if (fate === "cut") {
    request.socket.destroy();
    return;
  }
  if (fate === "last") {
    response.setHeader("connection", "close");
    answer(200, body, request, response);
    return;
  }
  const [status, content] = fate === "wrong" ? [200, {}] : [fate, fate === 200 ? body : { detail: "no" }];
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(content));
}

function ranking(body: string): object {
  const { candidates } = JSON.parse(body);
  const labels = Object.keys(candidates);
  return {
    ranked: labels.map((candidate, at) => ({
      rank: at + 1,
      candidate,
      score: 0,
      probability: 1 / labels.length,
    })),
  };
}

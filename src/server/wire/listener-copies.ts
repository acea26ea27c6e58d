import { type SendHandle, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { Server as TlsServer } from "node:tls";

/** Copies of a listening socket. Chosen by `tools/overload.mjs`. */
const COPIES = 15;
/** Longest time for making them. Chosen. */
const LIMIT_MS = 5_000;
/** Program of the process that sends each handle back. It ends when its channel is closed. */
const ECHO = "process.on('message', (message, handle) => process.send(message, handle))";

/**
 * Duplicates a server's listening socket, so that one turn of the event loop accepts several connections. Node.js accepts one
 * connection in a turn for each handle of the socket.
 *
 * A handle is duplicated when it is sent to another process. A short-lived process sends each one back, and accepts no
 * connection itself. If it cannot be started, the server goes on with its one handle.
 *
 * `server.close` also closes the copies. Its callback is called when no connection is left.
 *
 * @param server is listening
 * @returns resolves when the other process has ended. Never rejects
 */
export async function copyListener(server: Server): Promise<void> {
  if (process.platform === "win32") return; // a handle there accepts several connections at once
  const copies: Server[] = [];
  closeTogether(server, copies);
  try {
    for await (const handle of duplicates(handleOf(server))) {
      const copy = acceptFor(server, handle);
      copies.push(copy);
      if (server.listening) continue;
      copy.close(); // the server has closed meanwhile
      break;
    }
  } catch {
    // no process can be started here
  }
}

/** Copies of a handle that nothing accepts on yet. */
async function* duplicates(handle: SendHandle): AsyncGenerator<SendHandle> {
  const helper = spawn(process.execPath, ["--eval", ECHO], {
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    env: {},
    timeout: LIMIT_MS,
    killSignal: "SIGKILL",
  });
  helper.on("error", () => {}); // a failed start rejects the next promise; its channel then fails as well
  const ended = once(helper, "exit");
  ended.catch(() => {});
  try {
    for (let sent = 0; sent < COPIES; sent += 1) {
      const answer = once(helper, "message");
      helper.send("copy", handle, () => {}); // a failure ends the helper
      const received = await Promise.race([answer, ended.then(() => undefined)]);
      const copy: SendHandle | undefined = received?.[1];
      if (copy === undefined) return;
      yield copy;
    }
  } finally {
    if (helper.connected) helper.disconnect();
    await ended;
  }
}

/** Accepts connections on a copy of the server's socket and hands them over. The settings are those of the server itself. */
function acceptFor(server: Server, handle: SendHandle): Server {
  const copy = createServer({ allowHalfOpen: !(server instanceof TlsServer), noDelay: true });
  for (const event of ["connection", "error"]) copy.on(event, (about) => server.emit(event, about));
  return copy.listen(handle);
}

function closeTogether(server: Server, copies: readonly Server[]): void {
  const close = server.close.bind(server);
  server.close = (callback) => {
    const others = copies.map((copy) => new Promise((resolve) => copy.close(resolve)));
    return close((error) => void Promise.all(others).then(() => callback?.(error)));
  };
}

/** The handle itself. A server that is sent instead would accept connections in the other process. */
function handleOf(server: Server): SendHandle {
  return (server as Server & { readonly _handle: SendHandle })._handle;
}

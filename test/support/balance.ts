import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** Each connection goes to the next port; to the one after it where that does not answer. */
export async function balance(ports: readonly number[]) {
  const sockets = new Set<Socket>();
  let next = 0;
  const server = createServer((caller) => {
    sockets.add(caller.on("error", () => {}));
    open(caller, next++, ports.length);
  });
  function open(caller: Socket, at: number, tries: number): void {
    if (tries === 0) return void caller.destroy();
    const backend = connect(ports[at % ports.length] ?? 0, "127.0.0.1");
    let isOpen = false;
    backend.once("connect", () => {
      isOpen = true;
      caller.pipe(backend).pipe(caller);
    });
    backend.on("error", () => isOpen || open(caller, at + 1, tries - 1));
    backend.on("close", () => isOpen && caller.destroy());
    caller.on("close", () => backend.destroy());
  }
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = new Promise((resolve) => void server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

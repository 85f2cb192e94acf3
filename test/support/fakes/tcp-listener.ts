// Listens on TCP for behaviour that a real server would not show.

import { createServer, type Socket } from "node:net";

export interface TcpListener extends Disposable {
  readonly port: number;
  /** Closes all connections. */
  hangUp(): void;
}

/** Listens on a port; 0 means any free port. */
export async function listenOn(
  port: number,
  onConnection: (socket: Socket) => void,
): Promise<TcpListener> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("It does not listen");
  const hangUp = () => {
    for (const socket of sockets) socket.destroy();
  };
  const stop = () => {
    hangUp();
    server.close();
  };
  return { port: address.port, hangUp, [Symbol.dispose]: stop };
}

/** Sends nothing, and closes the connection after some time. */
export function hangUpLate(socket: Socket, afterMs: number): void {
  socket.setTimeout(afterMs, () => socket.destroy());
}

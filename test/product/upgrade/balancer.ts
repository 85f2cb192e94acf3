// Stands in for a load balancer in front of several API processes, as small as possible: one port,
// and each new connection goes to the next process whose /readyz answers 200.

import { connect, createServer, type Socket } from "node:net";

export interface Balancer extends AsyncDisposable {
  readonly url: string;
  /** Adds a process, which gets connections once it is ready. */
  add(port: number): void;
  /** Connections that each process got, by its port. */
  readonly sent: ReadonlyMap<number, number>;
}

const LOOK_MS = 50;

export async function startBalancer(): Promise<Balancer> {
  const ports: number[] = [];
  const ready = new Set<number>();
  const sent = new Map<number, number>();
  const open = new Set<Socket>();
  let turn = 0;
  let isClosed = false;

  const look = async (port: number) => {
    const isReady = await fetch(`http://127.0.0.1:${port}/readyz`, { keepalive: false }).then(
      (response) => response.ok,
      () => false,
    );
    if (isReady) ready.add(port);
    else ready.delete(port);
  };
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const choice = ports.filter((port) => ready.has(port));
    const port = choice[turn++ % choice.length];
    if (port === undefined) {
      client.destroy();
      return;
    }
    sent.set(port, (sent.get(port) ?? 0) + 1);
    const upstream = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    join(client, upstream, open);
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("It does not listen");
  // A look begins when the last one has ended: more would only make a busy process slower.
  const looks = async () => {
    for (; !isClosed; await Bun.sleep(LOOK_MS)) await Promise.all(ports.map(look));
  };
  const looking = looks();
  return {
    url: `http://127.0.0.1:${address.port}`,
    add: (port) => ports.push(port),
    sent,
    [Symbol.asyncDispose]: async () => {
      isClosed = true;
      await looking;
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Passes bytes and ends in both directions; a connection that breaks ends its other half. */
function join(client: Socket, upstream: Socket, open: Set<Socket>): void {
  for (const [from, to] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    open.add(from);
    from.pipe(to);
    from.on("error", () => to.destroy());
    from.on("close", () => open.delete(from));
  }
}

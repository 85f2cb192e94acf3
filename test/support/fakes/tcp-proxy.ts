// Forwards to a server; can split its replies or close connections.

import type { Socket, TCPSocketListener, TLSOptions } from "bun";

interface Link {
  readonly server: Promise<Socket<undefined>>;
  /** Resolves when all bytes that the client sent so far are forwarded. */
  asking: Promise<void>;
  /** Resolves when all bytes that the server sent so far are forwarded. */
  sending: Promise<void>;
}

/** Starts a proxy on a free port; with a certificate it speaks TLS to the client. */
export class TcpProxy implements AsyncDisposable {
  readonly #listener: TCPSocketListener<undefined>;
  #serverPort: number;
  readonly #links = new WeakMap<Socket<undefined>, Link>();
  readonly #clients = new Set<Socket<undefined>>();
  #cut: { readonly bytes: number; readonly times: "once" | "everywhere" } | null = null;
  #repliesLeft = Number.POSITIVE_INFINITY;
  #swallows = false;
  #answer: { readonly text: string; readonly reply: Buffer; readonly hangsUp: boolean } | null =
    null;
  readonly #frozen = new WeakSet<Socket<undefined>>();
  /** The number of connections accepted so far. */
  connections = 0;

  constructor(serverPort: number, tls?: TLSOptions) {
    this.#serverPort = serverPort;
    this.#listener = Bun.listen<undefined>({
      hostname: "127.0.0.1",
      port: 0,
      ...(tls && { tls }),
      socket: {
        open: (client) => this.#open(client),
        data: (client, bytes) => {
          const link = this.#links.get(client);
          if (link === undefined || this.#swallows || this.#frozen.has(client)) return;
          if (this.#answers(client, bytes)) return;
          link.asking = link.asking.then(async () => handOn(await link.server, [bytes]));
        },
        close: async (client) => {
          this.#clients.delete(client);
          (await this.#links.get(client)?.server)?.terminate();
        },
        error: () => {},
      },
    });
  }

  /** The server's URL with the address of the proxy. */
  urlOf(url: string): string {
    return url.replace(/:\d+(?=\/|$)/, `:${this.#listener.port}`);
  }

  /** Splits the server's data after this many bytes; "everywhere" splits it repeatedly. */
  cutAt(bytes: number, times: "once" | "everywhere" = "once"): void {
    this.#cut = { bytes, times };
  }

  /** Forwards this many pieces from the server, and closes the connection at each further one. */
  hangUpAfter(replies: number): void {
    this.#repliesLeft = replies;
  }

  /**
   * Answers the first message that contains this text by itself; the server does not get the
   * message.
   */
  answerOnce(text: string, reply: Buffer, hangsUp: boolean): void {
    this.#answer = { text, reply, hangsUp };
  }

  /** Closes all connections of clients. */
  hangUp(): void {
    for (const client of this.#clients) client.terminate();
  }

  /** Stops forwarding the client's bytes. */
  swallow(): void {
    this.#swallows = true;
  }

  /**
   * Keeps the present connections open but forwards nothing on them any more, as if the server were
   * gone.
   */
  freeze(): void {
    for (const client of this.#clients) this.#frozen.add(client);
  }

  /** Connects new clients to another server. */
  leadTo(serverPort: number): void {
    this.#serverPort = serverPort;
  }

  /** Forwards everything again. */
  restore(): void {
    this.#cut = null;
    this.#repliesLeft = Number.POSITIVE_INFINITY;
    this.#swallows = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.stop(true);
  }

  #open(client: Socket<undefined>): void {
    this.connections += 1;
    this.#clients.add(client);
    client.setNoDelay(true);
    const server = Bun.connect<undefined>({
      hostname: "127.0.0.1",
      port: this.#serverPort,
      socket: {
        data: (_, bytes) => {
          if (this.#frozen.has(client)) return;
          if (this.#repliesLeft <= 0) return client.terminate();
          this.#repliesLeft -= 1;
          link.sending = link.sending.then(() => handOn(client, this.#piecesOf(bytes)));
        },
        close: () => {
          if (!this.#frozen.has(client)) client.terminate();
        },
        error: () => client.terminate(),
      },
    });
    const link: Link = { server, asking: Promise.resolve(), sending: Promise.resolve() };
    this.#links.set(client, link);
  }

  #answers(client: Socket<undefined>, bytes: Buffer): boolean {
    const answer = this.#answer;
    if (answer === null || !bytes.includes(answer.text)) return false;
    this.#answer = null;
    client.write(answer.reply);
    if (answer.hangsUp) client.end();
    return true;
  }

  #piecesOf(bytes: Buffer): Buffer[] {
    if (this.#cut === null) return [bytes];
    const { bytes: size, times } = this.#cut;
    if (times === "once") return [bytes.subarray(0, size), bytes.subarray(size)];
    return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    );
  }
}

async function handOn(to: Socket<undefined>, pieces: readonly Buffer[]): Promise<void> {
  for (const piece of pieces) {
    for (let sent = 0; sent < piece.length; ) {
      const written = to.write(piece, sent);
      if (written < 0) return;
      sent += written;
      // Yields, so that the other side reads this piece alone.
      await Bun.sleep(1);
    }
  }
}

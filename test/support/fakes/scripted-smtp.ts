// Runs a real SMTP server on 127.0.0.1 whose behaviour the test sets for each step of a
// conversation.

import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { type ParsedMail, simpleParser } from "mailparser";
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from "smtp-server";
import { temporaryFolder } from "../../../scripts/local/processes.mjs";
import { makeCertificates } from "./certificates.ts";

/** The server's act at a step: it sends a reply, closes the connection, or does nothing. */
export type Act = { readonly code: number; readonly text?: string } | "drop" | "hang" | null;

/** The result of a complete message: `lost` accepts it without a reply. */
export type DataAct = Act | "lost";

export interface Script {
  readonly connect?: () => Act;
  readonly from?: () => Act;
  readonly to?: (address: string) => Act;
  /** When the content begins to arrive. */
  readonly begin?: () => "drop" | "hang" | null;
  /** When all of it has arrived. */
  readonly data?: () => DataAct | Promise<DataAct>;
}

export interface Received {
  readonly from: string;
  readonly to: readonly string[];
  readonly raw: Buffer;
}

/** The settings of a mail server for STARTTLS, with a certificate of an unknown authority. */
export function startTls(): SMTPServerOptions {
  const folder = temporaryFolder("farebox-mail-tls-");
  const { cert, key } = makeCertificates(folder.path);
  const files = { cert: readFileSync(cert), key: readFileSync(key) };
  folder.remove();
  return { ...files, disabledCommands: ["AUTH"] };
}

export class ScriptedSmtp implements AsyncDisposable {
  script: Script = {};
  /** The accepted messages, even if the client did not receive the reply. */
  readonly accepted: Received[] = [];
  connections = 0;

  private constructor(
    readonly server: SMTPServer,
    readonly port: number,
  ) {}

  static async start(
    options: SMTPServerOptions = {},
    port = 0,
    host = "127.0.0.1",
  ): Promise<ScriptedSmtp> {
    let self: ScriptedSmtp;
    const server = new SMTPServer({
      authOptional: true,
      disableReverseLookup: true,
      disabledCommands: ["STARTTLS", "AUTH"],
      onConnect: (session, done) => {
        self.connections += 1;
        self.act(session, self.script.connect?.() ?? null, done);
      },
      onMailFrom: (_, session, done) => self.act(session, self.script.from?.() ?? null, done),
      onRcptTo: ({ address }, session, done) =>
        self.act(session, self.script.to?.(address) ?? null, done),
      onData: (stream, session, done) => {
        const begin = self.script.begin?.() ?? null;
        if (begin !== null) {
          self.act(session, begin, done);
          return;
        }
        const pieces: Buffer[] = [];
        stream.on("data", (piece: Buffer) => pieces.push(piece));
        stream.on("end", () => void self.end(session, Buffer.concat(pieces), done));
      },
      ...options,
    });
    server.on("error", () => {});
    await new Promise<void>((resolve) => server.listen(port, host, resolve));
    self = new ScriptedSmtp(server, (server.server.address() as AddressInfo).port);
    return self;
  }

  /** Resets the script to its start; connections stay open. */
  reset(): void {
    this.script = {};
    this.accepted.length = 0;
  }

  get url(): string {
    return `smtp://127.0.0.1:${this.port}`;
  }

  /** The content of the accepted messages. */
  parsed(): Promise<ParsedMail[]> {
    return Promise.all(this.accepted.map(({ raw }) => simpleParser(raw)));
  }

  async end(
    session: SMTPServerSession,
    raw: Buffer,
    done: (error?: Error | null) => void,
  ): Promise<void> {
    const act = (await this.script.data?.()) ?? null;
    if (act === null || act === "lost") {
      const { mailFrom, rcptTo } = session.envelope;
      this.accepted.push({
        from: mailFrom === false ? "" : mailFrom.address,
        to: rcptTo.map(({ address }) => address),
        raw,
      });
    }
    this.act(session, act === "lost" ? "drop" : act, done);
  }

  act(session: SMTPServerSession, act: Act, done: (error?: Error | null) => void): void {
    if (act === "hang") return;
    if (act === "drop") {
      const connection = [...this.server.connections].find(({ id }) => id === session.id);
      // A killed client has closed it already.
      (connection as unknown as { _socket: { destroy(): void } } | undefined)?._socket.destroy();
      return;
    }
    if (act === null) {
      done();
      return;
    }
    const { code, text = "said the script" } = act;
    done(Object.assign(new Error(text), { responseCode: code }));
  }

  /** Closes every connection, like a server that is restarted. */
  dropAll(): void {
    for (const { id } of this.server.connections) {
      this.act({ id } as SMTPServerSession, "drop", () => {});
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.dropAll();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }
}

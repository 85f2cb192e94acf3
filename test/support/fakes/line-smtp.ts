// Answers as a mail server line by line, in ways that no library's server would.

import type { Socket } from "node:net";
import { ByteServer } from "./byte-server.ts";

/** The answer to a client's line that begins with this word; `.` is the end of a message. */
export type LineScript = Readonly<Record<string, string | ((socket: Socket) => void)>>;

export interface LineSmtp extends Disposable {
  readonly port: number;
  /** All lines of clients outside messages; a message is one line with a dot. */
  readonly lines: readonly string[];
  /** The bytes after the last whole line on the newest connection. */
  readonly unread: string;
  /** Sends an unasked line on the newest connection. */
  say(line: string): void;
  /** The number of open connections. */
  readonly open: number;
}

const REPLIES: LineScript = {
  EHLO: "250-mail.test\r\n250 AUTH PLAIN",
  AUTH: "235 Welcome",
  MAIL: "250 Fine",
  RCPT: "250 Fine",
  DATA: "354 Go on",
  ".": "250 Taken",
  RSET: "250 Fine",
  QUIT: "221 Bye",
};

/** Starts a server that answers a line as the script says, and otherwise as usual. */
export async function startLineSmtp(script: LineScript): Promise<LineSmtp> {
  const lines: string[] = [];
  let unread = "";
  let newest: Socket | null = null;
  const server = await ByteServer.startRaw((socket) => {
    newest = socket;
    let received = "";
    let end = "\r\n";
    socket.write("220 mail.test\r\n");
    socket.on("data", (bytes) => {
      received += bytes.toString("latin1");
      for (let at = received.indexOf(end); at >= 0; at = received.indexOf(end)) {
        const line = end === "\r\n" ? received.slice(0, at) : ".";
        received = received.slice(at + end.length);
        lines.push(line);
        const word = line.split(/[ :]/, 1)[0] ?? "";
        const reply = script[word] ?? REPLIES[word] ?? "500 What?";
        const takesMessage = word === "DATA" && !/^[45]/.test(String(reply));
        end = takesMessage ? "\r\n.\r\n" : "\r\n";
        if (typeof reply === "string") socket.write(`${reply}\r\n`);
        else reply(socket);
      }
      unread = received;
    });
  });
  return {
    lines,
    port: server.port,
    say: (line) => newest?.write(`${line}\r\n`),
    get unread() {
      return unread;
    },
    get open() {
      return server.open;
    },
    [Symbol.dispose]: () => server[Symbol.dispose](),
  };
}

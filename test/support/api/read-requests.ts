import type { Socket } from "node:net";

/** A request as it was received. */
export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Reads requests with a content-length, one after the other. */
export function readRequests(socket: Socket, take: (request: Received) => void): void {
  let held = Buffer.alloc(0);
  socket.on("data", (bytes) => {
    held = Buffer.concat([held, Buffer.from(bytes)]);
    for (;;) {
      const end = held.indexOf("\r\n\r\n");
      if (end < 0) return;
      const [first = "", ...lines] = held.toString("latin1", 0, end).split("\r\n");
      const headers: Record<string, string> = {};
      for (const line of lines) {
        const colon = line.indexOf(":");
        headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
      }
      const bodyEnd = end + 4 + Number(headers["content-length"] ?? 0);
      if (held.length < bodyEnd) return;
      const text = held.toString("utf8", end + 4, bodyEnd);
      held = held.subarray(bodyEnd);
      const body = text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
      take({ path: first.split(" ")[1] ?? "", headers, text, body });
    }
  });
}

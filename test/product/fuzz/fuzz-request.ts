// Describes a request as bytes on the wire, so that it can be one that no client library would
// send.

/** The announcement of the body, and the part of it that is sent. */
export type Framing =
  | { readonly kind: "length" }
  | { readonly kind: "chunked" }
  /** Announces this many bytes more than it sends, then ends its side. */
  | { readonly kind: "short"; readonly missing: number }
  /** Sends these lines in place of a length. */
  | { readonly kind: "headers"; readonly lines: readonly string[] };

export interface FuzzRequest {
  /** The number of the request in the run. */
  readonly number: number;
  /** The method and path of the endpoint that it was made for. */
  readonly endpoint: string;
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array | null;
  readonly framing: Framing;
  /** False if it breaks the rules of HTTP: then the server may refuse it by itself, or hang up. */
  readonly isHttp: boolean;
  /** Hangs up this long after it was sent; null if it waits for the answer. */
  readonly hangUpMs: number | null;
}

/** Stands in a request for a secret of the run: `KNOWN_` and a name. */
const KNOWN = /KNOWN_[a-z0-9_]+/g;
const PRINTED_BYTES_MAX = 8_000;

/**
 * The path of a target as the server reads it: without a host, and without its dots. The text after
 * a `#` is part of it unchanged.
 */
export function pathOf(target: string): string {
  const [path = ""] = target.replace(/^http:\/\/[^/]*/, "").split("?");
  if (!path.startsWith("/")) return path.replaceAll("#", "%23");
  const [, dotted = "", rest = ""] = /^([^#]*)(.*)$/.exec(path) ?? [];
  // A path that begins with two slashes would be read as a host.
  return new URL(`http://x/.${dotted}`).pathname + rest.replaceAll("#", "%23");
}

/** The bytes of a request; `secrets` are by their names. */
export function wireOf(request: FuzzRequest, secrets: ReadonlyMap<string, string>): Buffer {
  const { method, target, headers, body, framing } = request;
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  if (body !== null) lines.push(...framingLines(framing, body));
  const head = `${lines.join("\r\n")}\r\n\r\n`.replaceAll(
    KNOWN,
    (name) => secrets.get(name) ?? name,
  );
  return Buffer.concat([
    Buffer.from(head),
    body === null ? Buffer.alloc(0) : framed(framing, body),
  ]);
}

function framingLines(framing: Framing, body: Uint8Array): readonly string[] {
  switch (framing.kind) {
    case "length":
      return [`content-length: ${body.byteLength}`];
    case "short":
      return [`content-length: ${body.byteLength + framing.missing}`];
    case "chunked":
      return ["transfer-encoding: chunked"];
    case "headers":
      return framing.lines;
  }
}

function framed({ kind }: Framing, body: Uint8Array): Uint8Array {
  if (kind !== "chunked") return body;
  const half = Math.floor(body.byteLength / 2);
  const pieces = [body.subarray(0, half), body.subarray(half)].filter((one) => one.byteLength > 0);
  const chunks = pieces.flatMap((piece) => [
    Buffer.from(`${piece.byteLength.toString(16)}\r\n`),
    piece,
    Buffer.from("\r\n"),
  ]);
  return Buffer.concat([...chunks, Buffer.from("0\r\n\r\n")]);
}

/** A command for a shell that sends the request to a Farebox on port 8080. */
export function commandOf(request: FuzzRequest): string {
  const wire = wireOf(request, new Map());
  const shown = wire.subarray(0, PRINTED_BYTES_MAX).toString("latin1");
  const escaped = shown.replaceAll(/[^ -$&-~]|['\\]/g, (character) => {
    return `\\0${character.charCodeAt(0).toString(8).padStart(3, "0")}`;
  });
  const rest =
    wire.length > PRINTED_BYTES_MAX ? ` # and ${wire.length - PRINTED_BYTES_MAX} bytes` : "";
  return `printf '%b' '${escaped}' | nc 127.0.0.1 8080${rest}`;
}

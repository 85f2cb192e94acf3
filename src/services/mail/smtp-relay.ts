// Reads the mail server that the operator configures.

import { isLoopback } from "../../core/loopback.ts";

/** The parts of a mail server's URL. */
export interface RelayAddress {
  readonly host: string;
  readonly port: number;
  /**
   * `implicit`: from the first byte; `required` and `optional`: by STARTTLS; `none`: never. Where
   * TLS is optional, any certificate will do, and a server that has no STARTTLS or refuses it gets
   * mail without TLS.
   */
  readonly tls: "implicit" | "required" | "optional" | "none";
  readonly user: string | null;
  readonly password: string | null;
}

export interface SmtpRelay extends RelayAddress {
  /** The name with which we greet the server. */
  readonly name: string;
  /** The time limit for each step of the conversation. */
  readonly timeoutMs: number;
}

const PORTS = { "smtp:": 587, "smtps:": 465 } as const;
const TLS_CHOICES = ["required", "optional", "none"] as const;

/**
 * Reads `smtp://user:password@host:587?tls=required`, or `smtps://` for TLS from the first byte.
 * TLS to another machine is required unless the URL says otherwise. Throws a RangeError that
 * explains the fault without the password.
 */
export function parseRelay(text: string): RelayAddress {
  const url = URL.parse(text);
  const scheme = url?.protocol;
  if (url === null || (scheme !== "smtp:" && scheme !== "smtps:") || url.hostname === "") {
    throw new RangeError("must be smtp://HOST:PORT or smtps://HOST:PORT");
  }
  const choice = url.searchParams.get("tls");
  const chosen = TLS_CHOICES.find((one) => one === choice);
  if (choice !== null && (chosen === undefined || scheme === "smtps:")) {
    throw new RangeError(`takes tls=${TLS_CHOICES.join(", tls=")}, and only with smtp://`);
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  // An attacker between us and the server can make encryption fail, and then read the password.
  if (chosen === "optional" && url.username !== "" && !isLoopback(host)) {
    throw new RangeError("has a user, which tls=optional takes only for a server on this machine");
  }
  return {
    host,
    port: Number(url.port) || PORTS[scheme],
    tls:
      scheme === "smtps:" ? "implicit" : (chosen ?? (isLoopback(host) ? "optional" : "required")),
    user: url.username === "" ? null : decodeURIComponent(url.username),
    password: url.password === "" ? null : decodeURIComponent(url.password),
  };
}

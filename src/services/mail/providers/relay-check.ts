// Tests a mail server as an operator would by hand, and explains faults.

import type { NodemailerError } from "nodemailer";
import type { SmtpRelay } from "../smtp-relay.ts";
import { connectSmtp } from "./smtp-connect.ts";

export type RelayCheck =
  | { readonly ok: true; readonly encrypted: boolean; readonly response: string }
  | { readonly ok: false; readonly problem: string };

/** The meaning of each kind of failure for the operator who configures the server. */
const MEANINGS: Readonly<Record<string, string>> = {
  EDNS: "the name of the server is not known",
  ESOCKET: "the server cannot be reached: check its address, its port and firewalls",
  ECONNECTION: "the server closed the connection: it may want TLS at once (smtps://)",
  ETIMEDOUT: "the server does not answer in time: check its address, its port and firewalls",
  ETLS: "TLS failed: the certificate is not trusted, or the server has no TLS (tls=none)",
  EAUTH: "the server refused the user or the password",
  ENOAUTH: "the server takes no password here: it has no login, or none without TLS",
  EENVELOPE: "the server refused the sender or the recipient",
  EMESSAGE: "the server refused the message",
  EPROTOCOL: "what answers is no mail server",
};

/**
 * The words in the inner code of a failed handshake; the library reports such a handshake as
 * ESOCKET, like any other fault.
 */
const TLS_FAULT = /CERT|SIGNATURE|TLS|SSL/;

/** Connects and logs in, sends nothing, and quits. Never rejects. */
export async function greetRelay(
  relay: SmtpRelay,
): Promise<
  { readonly ok: true; readonly encrypted: boolean } | Extract<RelayCheck, { ok: false }>
> {
  try {
    const connection = await connectSmtp(relay);
    const encrypted = connection.secure;
    connection.quit();
    return { ok: true, encrypted };
  } catch (error) {
    return { ok: false, problem: problemOf(error as NodemailerError) };
  }
}

/** Sends one message, and quits. Never rejects. */
export async function checkRelay(
  relay: SmtpRelay,
  mail: { readonly from: string; readonly to: string; readonly mime: Buffer },
): Promise<RelayCheck> {
  try {
    const connection = await connectSmtp(relay);
    const encrypted = connection.secure;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    connection.send({ from: mail.from, to: [mail.to] }, mail.mime, (error, info) => {
      if (error) reject(error);
      else resolve(info?.response ?? "");
    });
    const response = await promise.finally(() => connection.quit());
    return { ok: true, encrypted, response };
  } catch (error) {
    return { ok: false, problem: problemOf(error as NodemailerError) };
  }
}

function problemOf(error: NodemailerError): string {
  const code = TLS_FAULT.test(error.originalCode ?? "") ? "ETLS" : error.code;
  const meaning = MEANINGS[code ?? ""] ?? "the conversation failed";
  return `${meaning} (${error.response ?? error.message})`;
}

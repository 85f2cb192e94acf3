import SMTPConnection from "nodemailer/lib/smtp-connection";
import type { SmtpRelay } from "../smtp-relay.ts";

/** A connection, a greeting, encryption and a login: each may take the time limit of a step. */
const STEPS = 4;

/** The longest that `connectSmtp` can take. */
export function openingMsMax(relay: Pick<SmtpRelay, "timeoutMs">): number {
  return relay.timeoutMs * STEPS;
}

/**
 * Opens a connection, including greeting, encryption and login. Rejects with the library's error.
 */
export function connectSmtp(relay: SmtpRelay): Promise<SMTPConnection> {
  const { host, port, tls, name, timeoutMs } = relay;
  const connection = new SMTPConnection({
    host,
    port,
    name,
    secure: tls === "implicit",
    requireTLS: tls === "required",
    ignoreTLS: tls === "none",
    opportunisticTLS: tls === "optional",
    // A server that takes mail without TLS need not prove its identity with TLS.
    ...(tls === "optional" && { tls: { rejectUnauthorized: false } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    socketCloseTimeout: 0,
  });
  const { promise, resolve, reject } = Promise.withResolvers<SMTPConnection>();
  // Stays attached: a connection that breaks later reports it here, and the current send rejects as
  // well.
  connection.on("error", reject);
  connection.once("end", () => reject(failure("ECONNECTION", "The server closed the connection")));
  // The library's limits after the greeting are for silence: a reply that goes on has none.
  const limit = setTimeout(
    () => reject(failure("ETIMEDOUT", "The server does not end its reply")),
    openingMsMax(relay),
  );
  connection.connect((error) => {
    if (error) reject(error);
    else if (relay.user === null) resolve(connection);
    // The library would send the password all the same, also after the server refused STARTTLS.
    else if (!connection.allowsAuth) reject(failure("ENOAUTH", "The server offers no login"));
    else logIn(connection, relay, { resolve, reject });
  });
  return promise
    .finally(() => clearTimeout(limit))
    .catch((error) => {
      connection.close();
      throw error;
    });
}

function logIn(
  connection: SMTPConnection,
  { user, password }: SmtpRelay,
  { resolve, reject }: Pick<PromiseWithResolvers<SMTPConnection>, "resolve" | "reject">,
): void {
  connection.login({ user: user ?? "", pass: password ?? "" }, (error) => {
    if (error) reject(error);
    else resolve(connection);
  });
}

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

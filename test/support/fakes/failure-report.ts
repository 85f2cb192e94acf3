// Writes reports of mail servers, in the form of RFC 3464, and sends them.

import SMTPConnection from "nodemailer/lib/smtp-connection";

const RECIPIENT = "b@x.test";

/** A report with this action for a message to one recipient. */
export function failureReport(action = "failed", recipient = RECIPIENT): string {
  return [
    "From: MAILER-DAEMON@relay.test",
    "Subject: Undelivered Mail Returned to Sender",
    "Auto-Submitted: auto-replied",
    "MIME-Version: 1.0",
    "Content-Type: multipart/report; report-type=delivery-status;",
    '\tboundary="9B095B5ADSN=_01D0/relay.test"',
    "",
    "This is a MIME-encapsulated message.",
    "",
    "--9B095B5ADSN=_01D0/relay.test",
    "Content-Type: text/plain; charset=us-ascii",
    "",
    "Action: failed, says this text for people, which decides nothing.",
    "",
    "--9B095B5ADSN=_01D0/relay.test",
    "Content-Type: message/delivery-status",
    "",
    "Reporting-MTA: dns; relay.test",
    "",
    `Final-Recipient: rfc822; ${recipient}`,
    `Action: ${action}`,
    "Status: 5.1.1",
    "Diagnostic-Code: smtp; 550 5.1.1 No such user",
    "",
    "--9B095B5ADSN=_01D0/relay.test",
    "Content-Type: message/rfc822",
    "",
    "Content-Type: message/delivery-status",
    "",
    "Action: failed",
    "",
    "--9B095B5ADSN=_01D0/relay.test--",
    "",
  ].join("\r\n");
}

/**
 * Sends a mail, by default a report of a failure, which has no sender. Returns the code of the
 * server's last reply.
 */
export async function mailTo(
  port: number,
  to: string,
  { from, mail = failureReport() }: { readonly from?: string; readonly mail?: string } = {},
): Promise<number> {
  const connection = new SMTPConnection({ host: "127.0.0.1", port, ignoreTLS: true });
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  connection.on("error", reject);
  connection.connect(() => {
    connection.send({ from: from ?? false, to }, mail, (error) => {
      resolve(error?.responseCode ?? 250);
    });
  });
  return await promise.finally(() => connection.quit());
}

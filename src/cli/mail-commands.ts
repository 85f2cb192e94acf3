import { DEFAULT_BRAND } from "../core/brand/brand.ts";
import { newTimedId } from "../core/ids.ts";
import { parseAddress } from "../core/text/mail-address.ts";
import { createMimeBuilder, type MailIdentity } from "../services/mail/providers/mime.ts";
import { checkRelay } from "../services/mail/providers/relay-check.ts";
import type { SmtpRelay } from "../services/mail/smtp-relay.ts";
import { loadMailConfig } from "../settings/config.ts";
import { type Answer, type Command, UsageError } from "./command.ts";

const SUBJECT = "A test of the mail server";
const TEXT = "This message shows that the mail server accepts mail from Farebox.";

/** `farebox mail test --to A`. */
export const mailCommands: readonly Command[] = [
  {
    name: "mail test",
    comparesSecrets: false,
    positionals: [],
    summary: "Send a test message through MAIL_SMTP_URL and show any problem",
    options: { to: { value: "ADDRESS", help: "the recipient of the message", required: true } },
    prepare({ values, nowMs }) {
      const parsed = parseAddress(values.get("to") ?? "");
      if (typeof parsed === "string") throw new UsageError(`--to ${parsed}`);
      return async ({ random, environment }) => {
        const mail = loadMailConfig(environment);
        if (mail.relay === null) return NO_RELAY;
        const id = newTimedId("message", random, nowMs);
        // The operator reads this message, with Postgres or without it.
        const identity = { ...mail, relay: mail.relay, brand: () => DEFAULT_BRAND };
        return await sendTest(identity, { id, to: parsed.address, date: new Date(nowMs) });
      };
    },
  },
];

const NO_RELAY: Answer = {
  json: { ok: false, problem: "MAIL_SMTP_URL is not set" },
  text: "MAIL_SMTP_URL is not set, so mail goes to the built-in sink and is not delivered.",
  failed: true,
};

async function sendTest(
  { relay, ...mail }: MailIdentity & { readonly relay: SmtpRelay },
  { id, to, date }: { readonly id: string; readonly to: string; readonly date: Date },
): Promise<Answer> {
  const sender = `postmaster@${mail.domain}`;
  const unused = { html: null, fromName: null, replyTo: null };
  const content = { to: [to], subject: SUBJECT, text: TEXT, ...unused };
  const mime = await createMimeBuilder(mail)({ id, content, sender, accountDomain: null, date });
  const check = await checkRelay(relay, { from: sender, to, mime });
  const server = `${relay.host}:${relay.port}`;
  if (!check.ok) {
    const { problem } = check;
    return { json: { ok: false, server, problem }, text: `${server}: ${problem}`, failed: true };
  }
  const { encrypted, response } = check;
  const signed = mail.dkim === null ? "not signed" : "signed with DKIM";
  const security = `${encrypted ? "over TLS" : "without TLS"}, ${signed}`;
  return {
    json: { ok: true, server, encrypted, dkim: mail.dkim !== null, response },
    text: `${server} accepted the message, ${security}. It answered: ${response}`,
  };
}

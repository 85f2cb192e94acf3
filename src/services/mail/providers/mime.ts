// Builds a message: always the same bytes for the same message, however often it is sent.

import { createTransport } from "nodemailer";
import { accountDomain, displayName, footerText, type MailContent } from "../../../core/mail.ts";
import { withHtmlFooter, withTextFooter } from "../mail-text.ts";

/** Signs outgoing mail (RFC 6376). */
export interface DkimKey {
  readonly selector: string;
  /** PEM. */
  readonly privateKey: string;
}

/** The sender's identity: the same for all mail of an installation. */
export interface MailIdentity {
  readonly domain: string;
  /** The name of the service in display names and footers. */
  readonly service: string;
  readonly dkim: DkimKey | null;
}

export interface MimeInput {
  readonly id: string;
  readonly content: MailContent;
  /** The account's assigned address. */
  readonly sender: string;
  readonly accountEmail: string | null;
  readonly date: Date;
}

export type BuildMime = (input: MimeInput) => Promise<Buffer>;

/** Creates a builder. Content stays content: it cannot reach a file, a URL or a header. */
export function createMimeBuilder(identity: MailIdentity): BuildMime {
  const { dkim, domain, service } = identity;
  const composer = createTransport(
    { streamTransport: true, buffer: true, newline: "windows" },
    {
      disableFileAccess: true,
      disableUrlAccess: true,
      ...(dkim && {
        dkim: {
          domainName: domain,
          keySelector: dkim.selector,
          privateKey: dkim.privateKey,
        },
      }),
    },
  );
  return async ({ id, content, sender, accountEmail, date }) => {
    const ownDomain = accountDomain(accountEmail, sender);
    const footer = footerText(ownDomain, service);
    const { text, html, subject, replyTo } = content;
    const { message } = await composer.sendMail({
      from: { name: displayName(content.fromName, ownDomain, service), address: sender },
      to: content.to.map(plain),
      ...(replyTo !== null && { replyTo: plain(replyTo) }),
      subject,
      ...(text !== null && { text: withTextFooter(text, footer) }),
      ...(html !== null && { html: withHtmlFooter(html, footer) }),
      messageId: `<${id}@${domain}>`,
      date,
      headers: { ...listHeaders(sender, replyTo), "Auto-Submitted": "auto-generated" },
      baseBoundary: id,
      envelope: { from: sender, to: [...content.to] },
    });
    if (!Buffer.isBuffer(message)) throw new Error("The composer gave no buffer");
    return message;
  };
}

// An object, because the library would read lists, groups and comments in a string.
function plain(address: string) {
  return { name: "", address };
}

/** RFC 2919 and 2369: a name for filters, and a contact. */
function listHeaders(sender: string, replyTo: string | null): Record<string, string> {
  const domain = sender.slice(sender.indexOf("@") + 1);
  const person = replyTo ?? `postmaster@${domain}`;
  const subject = `unsubscribe ${sender}`;
  return {
    "List-ID": `<${sender.replace("@", ".")}>`,
    "List-Unsubscribe": `<mailto:${encodeURI(person)}?subject=${encodeURIComponent(subject)}>`,
  };
}

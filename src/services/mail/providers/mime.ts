// Builds a message: always the same bytes for the same message, however often it is sent.

import { createTransport } from "nodemailer";
import type { ReadBrand } from "../../../core/brand/brand.ts";
import {
  accountName,
  displayName,
  footerText,
  type MailContent,
  noReplyAddress,
} from "../../../core/mail.ts";
import type { ServiceMail } from "../../../core/service-mail.ts";
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
  readonly brand: ReadBrand;
  readonly dkim: DkimKey | null;
}

export interface MimeInput {
  readonly id: string;
  readonly content: MailContent;
  /** The account's assigned address. */
  readonly sender: string;
  readonly accountDomain: string | null;
  readonly date: Date;
}

/** 60 letters of base64, with 12 around them. */
const ENCODED_BYTES_MAX = 45;

export type BuildMime = (input: MimeInput) => Promise<Buffer>;

/** Creates a builder. Content stays content: it cannot reach a file, a URL or a header. */
export function createMimeBuilder(identity: MailIdentity): BuildMime {
  const { domain, brand } = identity;
  const compose = createComposer(identity);
  return async ({ id, content, sender, accountDomain, date }) => {
    const ownDomain = accountName(accountDomain, sender);
    const { senderName } = brand();
    const footer = footerText(ownDomain, senderName);
    const { text, html, subject, replyTo } = content;
    return await compose({
      id,
      date,
      subject,
      from: { name: displayName(content.fromName, ownDomain, senderName), address: sender },
      to: content.to,
      replyTo,
      text: text && withTextFooter(text, footer),
      html: html && withHtmlFooter(html, footer),
      messageId: `<${id}@${domain}>`,
      headers: listHeaders(sender, replyTo),
    });
  };
}

/** A mail of the service itself. */
export interface ServiceMimeInput extends ServiceMail {
  readonly id: string;
  readonly to: string;
  readonly date: Date;
}

export type BuildServiceMime = (input: ServiceMimeInput) => Promise<Buffer>;

/** Creates a builder for the service's own mails, which come from `no-reply@`. */
export function createServiceMimeBuilder(identity: MailIdentity): BuildServiceMime {
  const { domain, brand } = identity;
  const compose = createComposer(identity);
  return ({ id, to, subject, text, html, date }) =>
    compose({
      id,
      date,
      subject,
      text,
      html,
      from: { name: brand().senderName, address: noReplyAddress(domain) },
      to: [to],
      replyTo: null,
      messageId: `<${id}@${domain}>`,
      headers: {},
    });
}

interface Parts {
  readonly id: string;
  readonly date: Date;
  readonly subject: string;
  readonly from: { readonly name: string; readonly address: string };
  readonly to: readonly string[];
  readonly replyTo: string | null;
  readonly text: string | null;
  readonly html: string | null;
  readonly messageId: string;
  readonly headers: Readonly<Record<string, string>>;
}

function createComposer({ dkim, domain }: MailIdentity): (parts: Parts) => Promise<Buffer> {
  const signing = dkim && {
    domainName: domain,
    keySelector: dkim.selector,
    privateKey: dkim.privateKey,
  };
  const composer = createTransport(
    { streamTransport: true, buffer: true, newline: "windows" },
    { disableFileAccess: true, disableUrlAccess: true, ...(signing && { dkim: signing }) },
  );
  return async ({ id, date, subject, from, to, replyTo, text, html, messageId, headers }) => {
    const { message } = await composer.sendMail({
      from,
      to: to.map(plain),
      ...(replyTo !== null && { replyTo: plain(replyTo) }),
      ...(!looksEncoded(subject) && { subject }),
      ...(text !== null && { text: withPlainBreaks(text) }),
      ...(html !== null && { html: withPlainBreaks(html) }),
      messageId,
      date,
      headers: {
        ...(looksEncoded(subject) && { Subject: encodedSubject(subject) }),
        ...headers,
        "Auto-Submitted": "auto-generated",
      },
      baseBoundary: id,
      envelope: { from: from.address, to: [...to] },
    });
    if (!Buffer.isBuffer(message)) throw new Error("The composer gave no buffer");
    return message;
  };
}

/**
 * The library signs a lone CR as it is, and then sends it as a line break. The library counts no
 * new line after a lone LF, and makes two pieces of each: a mail of nothing else takes 0.4 s.
 */
function withPlainBreaks(body: string): string {
  return body.replaceAll(/\r\n?|\n/g, "\r\n");
}

// An object, because the library would read lists, groups and comments in a string.
function plain(address: string) {
  return { name: "", address };
}

/** A reader would decode such a text and show another. The library sends ASCII as it is. */
function looksEncoded(subject: string): boolean {
  return subject.includes("=?");
}

/** The text in encoded words (RFC 2047), each with whole characters and at most 75 long. */
function encodedSubject(subject: string) {
  const words: string[] = [];
  let word = "";
  for (const character of subject) {
    if (Buffer.byteLength(word + character) > ENCODED_BYTES_MAX) {
      words.push(word);
      word = "";
    }
    word += character;
  }
  words.push(word);
  const encoded = words.map((part) => `=?UTF-8?B?${Buffer.from(part).toString("base64")}?=`);
  return { prepared: true, foldLines: true, value: encoded.join(" ") };
}

/** RFC 2919 and 2369: a name for filters, and a contact. */
function listHeaders(sender: string, replyTo: string | null): Record<string, string> {
  const domain = sender.slice(sender.indexOf("@") + 1);
  const person = replyTo ?? `postmaster@${domain}`;
  const subject = `unsubscribe ${sender}`;
  return {
    "List-ID": `<${sender.replace("@", ".")}>`,
    "List-Unsubscribe": `<mailto:${inUri(person)}?subject=${encodeURIComponent(subject)}>`,
  };
}

/** An address in a mailto URI (RFC 6068): `?`, `&` and `#` may be part of it. */
function inUri(address: string): string {
  const at = address.lastIndexOf("@");
  return `${encodeURIComponent(address.slice(0, at))}${address.slice(at)}`;
}

// Reads the body of POST /v1/mail/send (SPEC 4.6) in the order of the error table.

import { ApiError } from "../../core/errors.ts";
import { MAIL, TIERS } from "../../core/limits.ts";
import { isRoleAddress } from "../../core/mail.ts";
import { distinct, isWithin, type MailAddress, parseAddress } from "../../core/mail-address.ts";
import { asArray, asText, invalid, isAbsent } from "../../http/checks.ts";
import type { UncheckedObject } from "../../http/read-body.ts";
import { characters, headerText, utf8Bytes } from "./mail-text.ts";
import type { MailCall } from "./send-mail.ts";

/** SPEC 4.6.1: who sends, and with what, is not the caller's to say. */
const REFUSED_FIELDS = ["from", "cc", "bcc", "headers", "attachments"] as const;
/** With these a display name could look like an address or like several senders. */
const NOT_IN_NAMES = /[<>@":,;\\]/;
const PRINTABLE = /^[\x20-\x7e]+$/;
/** More than any tier allows: what follows need not be read. */
const RECIPIENTS_MAX = Math.max(...TIERS.map(({ mail }) => mail?.recipientsPerMessage ?? 0));

/** Checks a request. `mailDomain` is the service's own: nobody mails it through itself. */
export function readMailCall(
  body: UncheckedObject,
  headers: Headers,
  mailDomain: string,
): MailCall {
  refuseFields(body);
  const idempotencyKey = readIdempotencyKey(headers);
  const recipients = readRecipients(body.to, mailDomain);
  const subject = readHeaderText(body.subject, "subject", MAIL.subjectCharactersMax);
  const text = readPart(body.text, "text", MAIL.textBytesMax);
  const html = readPart(body.html, "html", MAIL.htmlBytesMax);
  if (text === null && html === null) throw invalid("text", "or html must be there");
  const content = {
    to: recipients.map(({ address }) => address),
    subject,
    text,
    html,
    fromName: isAbsent(body.from_name) ? null : readName(body.from_name),
    replyTo: isAbsent(body.reply_to) ? null : readReplyTo(body.reply_to, mailDomain),
  };
  return { content, recipients, idempotencyKey };
}

function refuseFields(body: UncheckedObject): void {
  const field = REFUSED_FIELDS.find((name) => Object.hasOwn(body, name));
  if (field === undefined) return;
  throw new ApiError("unsupported_field", `${field} cannot be set: see the fields of a message`);
}

function readIdempotencyKey(headers: Headers): string | null {
  const key = headers.get("idempotency-key");
  if (key === null) return null;
  if (PRINTABLE.test(key) && key.length <= MAIL.idempotencyKeyMax) return key;
  throw invalid(
    "The header Idempotency-Key",
    `must have 1 to ${MAIL.idempotencyKeyMax} printable ASCII characters`,
  );
}

function readRecipients(value: unknown, mailDomain: string): MailAddress[] {
  if (typeof value === "string") return [readRecipient(value, "to", mailDomain)];
  if (!Array.isArray(value)) throw invalid("to", "must be an address or an array of addresses");
  const items = asArray(value, "to", MAIL.toItemsMax);
  if (items.length === 0) throw invalid("to", "must have at least one address");
  const found = distinct(items.map((item, i) => readRecipient(item, `to[${i}]`, mailDomain)));
  if (found.length <= RECIPIENTS_MAX) return found;
  const message = `to has ${found.length} recipients; no tier allows more than ${RECIPIENTS_MAX}`;
  throw new ApiError("too_many_recipients", message);
}

function readRecipient(value: unknown, field: string, mailDomain: string): MailAddress {
  const recipient = readAddress(value, field, mailDomain);
  if (isRoleAddress(recipient)) throw invalid(field, "must not be an address for complaints");
  return recipient;
}

function readReplyTo(value: unknown, mailDomain: string): string {
  return readAddress(value, "reply_to", mailDomain).address;
}

function readAddress(value: unknown, field: string, mailDomain: string): MailAddress {
  const parsed = parseAddress(asText(value, field));
  if (typeof parsed === "string") throw invalid(field, parsed);
  if (!isWithin(parsed.domain, mailDomain)) return parsed;
  throw invalid(field, "must not be an address of this service");
}

function readName(value: unknown): string {
  const name = readHeaderText(value, "from_name", MAIL.fromNameCharactersMax);
  if (NOT_IN_NAMES.test(name)) throw invalid("from_name", 'must not contain any of <>@":,;\\');
  return name;
}

function readHeaderText(value: unknown, field: string, charactersMax: number): string {
  const text = headerText(asText(value, field));
  if (text !== "" && characters(text) <= charactersMax) return text;
  throw invalid(field, `must have 1 to ${charactersMax} characters`);
}

/** A body; one that is empty counts as not there. */
function readPart(value: unknown, field: string, bytesMax: number): string | null {
  if (isAbsent(value)) return null;
  const text = asText(value, field);
  if (utf8Bytes(text) > bytesMax) throw invalid(field, `must have at most ${bytesMax} bytes`);
  return text === "" ? null : text;
}

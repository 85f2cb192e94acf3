// Converts a checked body into a message (SPEC 4.6).

import { MAIL, TIERS } from "../../core/access/limits.ts";
import { ApiError } from "../../core/errors.ts";
import { isRoleAddress } from "../../core/mail.ts";
import { headerText } from "../../core/text/header-text.ts";
import {
  distinct,
  isWithin,
  type MailAddress,
  parseAddress,
} from "../../core/text/mail-address.ts";
import { invalid, isAbsent } from "../../http/body/checks.ts";
import { idempotencyKeyIn } from "../../http/idempotency.ts";
import { isLonger } from "../../http/schema.ts";
import type { MailFields } from "./mail-contract.ts";
import { utf8Bytes } from "./mail-text.ts";
import type { MailCall } from "./send-mail.ts";

/**
 * With these characters a display name could look like an address or like several senders. `=?`
 * begins an encoded word (RFC 2047), which many readers decode in a name: it could hide the others.
 */
const NOT_IN_NAMES = /[<>@"\\]|=\?/;
/** The most recipients that any tier allows: further ones need not be read. */
const RECIPIENTS_MAX = Math.max(...TIERS.map(({ mail }) => mail?.recipientsPerMessage ?? 0));

/** `mailDomain` is the service's own domain: mail to it is refused. */
export function toMailCall(body: MailFields, headers: Headers, mailDomain: string): MailCall {
  const idempotencyKey = idempotencyKeyIn(headers);
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
    fromName: isBlank(body.from_name) ? null : readName(body.from_name),
    replyTo: isBlank(body.reply_to) ? null : readReplyTo(body.reply_to, mailDomain),
  };
  return { content, recipients, idempotencyKey };
}

/** True for a field that is missing, null or an empty text, which all mean the same. */
function isBlank(value: string | null | undefined): value is "" | null | undefined {
  return isAbsent(value) || value === "";
}

function readRecipients(to: MailFields["to"], mailDomain: string): MailAddress[] {
  if (typeof to === "string") return [readRecipient(to, "to", mailDomain)];
  if (to.length > MAIL.toItemsMax) throw tooMany(`${to.length} items`, MAIL.toItemsMax);
  const found = distinct(to.map((item, i) => readRecipient(item, `to[${i}]`, mailDomain)));
  if (found.length <= RECIPIENTS_MAX) return found;
  throw tooMany(`${found.length} recipients`, RECIPIENTS_MAX);
}

function tooMany(found: string, most: number): ApiError {
  return new ApiError("too_many_recipients", `to has ${found}; no tier allows more than ${most}`);
}

function readRecipient(value: string, field: string, mailDomain: string): MailAddress {
  const recipient = readAddress(value, field, mailDomain);
  if (isRoleAddress(recipient)) throw invalid(field, "must not be an address for complaints");
  return recipient;
}

function readReplyTo(value: string, mailDomain: string): string {
  return readAddress(value, "reply_to", mailDomain).address;
}

function readAddress(value: string, field: string, mailDomain: string): MailAddress {
  const parsed = parseAddress(value);
  if (typeof parsed === "string") throw invalid(field, parsed);
  if (!isWithin(parsed.domain, mailDomain)) return parsed;
  throw invalid(field, "must not be an address of this service");
}

function readName(value: string): string {
  const name = readHeaderText(value, "from_name", MAIL.fromNameCharactersMax);
  if (NOT_IN_NAMES.test(name)) {
    throw invalid("from_name", 'must not contain =? or any of <>@"\\');
  }
  return name;
}

function readHeaderText(value: string, field: string, charactersMax: number): string {
  const text = headerText(value);
  if (text !== "" && !isLonger(text, charactersMax)) return text;
  throw invalid(field, `must have 1 to ${charactersMax} characters`);
}

/** A body; an empty one counts as missing. */
function readPart(
  value: string | null | undefined,
  field: string,
  bytesMax: number,
): string | null {
  if (isBlank(value)) return null;
  if (utf8Bytes(value) > bytesMax) throw invalid(field, `must have at most ${bytesMax} bytes`);
  return value;
}

// Reads whether a mail reports that a message was not delivered: in the form of RFC 3464, or in one
// of two older forms, which some relays still use.

/** This much of a mail is read: the report comes after a text for people. */
export const REPORT_BYTES_MAX = 256 * 1024;
/** The most levels of mails around a report: gateways wrap reports. */
const DEPTH_MAX = 3;
const PARTS_MAX = 50;
const STATUS = /^message\/(?:global-)?delivery-status\b/i;
const MULTIPART = /^multipart\//i;
/** Of the actions failed, delayed, delivered, relayed and expanded, this is the only failure. */
const FAILED = /^action[ \t]*:[ \t]*failed\b/im;

/** The field in which Exim names the addresses of a failure; Exim's notes of a delay lack it. */
const FAILED_RECIPIENTS = "x-failed-recipients";
/** The first words of a failure in qmail's format (QSBMF), in which qmail reports only failures. */
const QSBMF = /^\s*Hi\. This is the [\s\S]{1,300}?\bpermanent error\b/;

/** A mail, or a part of one. */
interface Entity {
  /** The fields, each in one line. */
  readonly head: string;
  readonly body: string;
}

/**
 * True for a report of a failure. False for a report of a delay, a relay or a delivery,
 * for the answer of a person or a program, and for a complaint.
 */
export function reportsFailure(mail: Buffer): boolean {
  const text = mail.subarray(0, REPORT_BYTES_MAX).toString("latin1").replace(/\r\n?/g, "\n");
  const entity = entityOf(text);
  return hasOlderForm(entity) || hasFailed(entity, 0);
}

function hasOlderForm({ head, body }: Entity): boolean {
  return fieldOf(head, FAILED_RECIPIENTS).trim() !== "" || (isPlain(head) && QSBMF.test(body));
}

function isPlain(head: string): boolean {
  const type = fieldOf(head, "content-type");
  return type === "" || /^text\/plain\b/i.test(type);
}

function hasFailed({ head, body }: Entity, depth: number): boolean {
  const type = fieldOf(head, "content-type");
  if (STATUS.test(type)) return FAILED.test(unfolded(decoded(head, body)));
  if (!MULTIPART.test(type) || depth >= DEPTH_MAX) return false;
  return mimePartsOf(type, body).some((part) => hasFailed(entityOf(part), depth + 1));
}

function entityOf(text: string): Entity {
  if (text.startsWith("\n")) return { head: "", body: text.slice(1) };
  const end = text.indexOf("\n\n");
  if (end < 0) return { head: unfolded(text), body: "" };
  return { head: unfolded(text.slice(0, end)), body: text.slice(end + 2) };
}

function unfolded(lines: string): string {
  return lines.replace(/\n[ \t]+/g, " ");
}

function fieldOf(head: string, name: string): string {
  return new RegExp(`^${name}[ \\t]*:[ \\t]*(.*)$`, "im").exec(head)?.[1] ?? "";
}

function mimePartsOf(type: string, body: string): readonly string[] {
  const [, quoted, token] = /\bboundary\s*=\s*(?:"([^"]*)"|([^\s;]+))/i.exec(type) ?? [];
  const boundary = quoted ?? token ?? "";
  if (boundary === "") return [];
  // The text before the first boundary is no part.
  return `\n${body}`.split(`\n--${boundary}`).slice(1, PARTS_MAX).map(withoutLine);
}

/** The part after the rest of the line of its boundary. */
function withoutLine(part: string): string {
  const end = part.indexOf("\n");
  return end < 0 ? "" : part.slice(end + 1);
}

function decoded(head: string, body: string): string {
  const encoding = fieldOf(head, "content-transfer-encoding").trim().toLowerCase();
  if (encoding === "base64") return Buffer.from(body, "base64").toString("latin1");
  if (encoding !== "quoted-printable") return body;
  return body
    .replace(/=[ \t]*\n/g, "")
    .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

// Reads whether a mail reports that a message was not delivered: in the form of RFC 3464, or in one
// of the two that relays used before it and some still do.

/** So much of a mail is read; what comes before the report is a text for people. */
export const REPORT_BYTES_MAX = 256 * 1024;
/** A report inside of another mail, as gateways wrap it. */
const DEPTH_MAX = 3;
const PARTS_MAX = 50;
const STATUS = /^message\/(?:global-)?delivery-status\b/i;
const MULTIPART = /^multipart\//i;
/** Of the actions failed, delayed, delivered, relayed and expanded, this is the only failure. */
const FAILED = /^action[ \t]*:[ \t]*failed\b/im;

/** With it Exim names the addresses of a failure; its notes of a delay have none. */
const FAILED_RECIPIENTS = "x-failed-recipients";
/** The first words of a failure in qmail's format (QSBMF), which has no other reports. */
const QSBMF = /^\s*Hi\. This is the [\s\S]{1,300}?\bpermanent error\b/;

/**
 * True for a report of a failure. A report of a delay, a relay or a delivery is none, and neither
 * is the answer of a person or a program, or a complaint.
 */
export function reportsFailure(mail: Buffer): boolean {
  const text = mail.subarray(0, REPORT_BYTES_MAX).toString("latin1").replace(/\r\n?/g, "\n");
  const { head, body } = headAndBody(text);
  const isEarlier =
    fieldOf(head, FAILED_RECIPIENTS).trim() !== "" || (isPlain(head) && QSBMF.test(body));
  return isEarlier || hasFailed(text, 0);
}

function isPlain(head: string): boolean {
  const type = fieldOf(head, "content-type");
  return type === "" || /^text\/plain\b/i.test(type);
}

function hasFailed(entity: string, depth: number): boolean {
  const { head, body } = headAndBody(entity);
  const type = fieldOf(head, "content-type");
  if (STATUS.test(type)) return FAILED.test(unfolded(decoded(head, body)));
  if (!MULTIPART.test(type) || depth >= DEPTH_MAX) return false;
  return partsOf(type, body).some((part) => hasFailed(part, depth + 1));
}

function headAndBody(entity: string): { readonly head: string; readonly body: string } {
  if (entity.startsWith("\n")) return { head: "", body: entity.slice(1) };
  const end = entity.indexOf("\n\n");
  if (end < 0) return { head: unfolded(entity), body: "" };
  return { head: unfolded(entity.slice(0, end)), body: entity.slice(end + 2) };
}

function unfolded(lines: string): string {
  return lines.replace(/\n[ \t]+/g, " ");
}

function fieldOf(head: string, name: string): string {
  return new RegExp(`^${name}[ \\t]*:[ \\t]*(.*)$`, "im").exec(head)?.[1] ?? "";
}

function partsOf(type: string, body: string): readonly string[] {
  const [, quoted, token] = /\bboundary\s*=\s*(?:"([^"]*)"|([^\s;]+))/i.exec(type) ?? [];
  const boundary = quoted ?? token ?? "";
  if (boundary === "") return [];
  // What is before the first boundary is no part.
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

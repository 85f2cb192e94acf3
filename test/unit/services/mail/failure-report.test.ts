// Tests that only a report of a failure counts as a message that was not delivered.

import { describe, expect, test } from "bun:test";
import {
  REPORT_BYTES_MAX,
  reportsFailure,
} from "../../../../src/services/mail/providers/failure-report.ts";
import { failureReport } from "../../../support/fakes/failure-report.ts";

const reports = (mail: string) => reportsFailure(Buffer.from(mail));
const STATUS = "Reporting-MTA: dns; relay.test\r\n\r\nAction: failed\r\nStatus: 5.1.1\r\n";

const BASE64 = "Content-Transfer-Encoding: base64";
const QUOTED = "Content-Transfer-Encoding: quoted-printable";

/** A mail of one or more parts. */
function mixed(type: string, ...parts: readonly string[]): string {
  const body = parts.map((part) => `--b\r\n${part}\r\n`).join("");
  return `Content-Type: ${type}; boundary=b\r\n\r\n${body}--b--\r\n`;
}

const QMAIL =
  "Hi. This is the qmail-send program at relay.test.\r\n" +
  "I'm afraid I wasn't able to deliver your message to the following addresses.\r\n" +
  "This is a permanent error; I've given up. Sorry it didn't work out.";

describe("a failure is reported by", () => {
  test.each([
    ["a report of RFC 3464", failureReport()],
    ["one in other letters", failureReport("FAILED")],
    ["one with a comment", failureReport("failed (expired)")],
    ["one with lines that end with LF", failureReport().replaceAll("\r\n", "\n")],
    ["one of several recipients", failureReport("relayed\r\n\r\nAction: failed")],
    ["one whose field is folded", failureReport("\r\n failed")],
    [
      "one of RFC 6533, in base64",
      mixed(
        "multipart/report; report-type=delivery-status",
        `Content-Type: message/global-delivery-status\r\n${BASE64}\r\n\r\n${btoa(STATUS)}`,
      ),
    ],
    [
      "one in quoted-printable",
      mixed(
        "multipart/report",
        `Content-Type: message/delivery-status\r\n${QUOTED}\r\n\r\nAction: fail=\r\ned=20\r\n`,
      ),
    ],
    [
      "one of Exim without a part for programs",
      "X-Failed-Recipients: b@x.test\r\nSubject: Mail delivery failed\r\n\r\nThe following failed",
    ],
    ["one of qmail", `Subject: failure notice\r\n\r\n${QMAIL}\r\n\r\n<b@x.test>:\r\nNo such user`],
    ["one that a gateway wrapped", mixed("multipart/mixed", failureReport())],
    [
      "one that breaks off after its report",
      failureReport().split("--9B095B5ADSN").slice(0, 3).join("--9B095B5ADSN"),
    ],
  ])("%s", (_, mail) => expect(reports(mail)).toBe(true));
});

describe("no failure is reported by", () => {
  const vacation = "Auto-Submitted: auto-replied\r\nSubject: Away\r\n\r\nAction: failed\r\n";
  test.each([
    ...["delayed", "delivered", "relayed", "expanded", "unfailed", ""].map(
      (action) => [`a report of the action '${action}'`, failureReport(action)] as const,
    ),
    ["a vacation notice (RFC 3834)", vacation],
    ["an answer that quotes qmail", `Subject: Re: failure notice\r\n\r\nWhy?\r\n> ${QMAIL}`],
    ["the greeting of a person", "Subject: Hi\r\n\r\nHi. This is the person who is away."],
    ["an empty list of Exim", "X-Failed-Recipients:\r\n\r\nWarning: delayed for 24 hours"],
    ["a text without a report", "Subject: Undelivered Mail Returned to Sender\r\n\r\nfailed"],
    ["nothing at all", ""],
    [
      "a complaint (RFC 5965)",
      mixed(
        "multipart/report; report-type=feedback-report",
        "Content-Type: message/feedback-report\r\n\r\nFeedback-Type: abuse\r\nAction: failed\r\n",
      ),
    ],
    [
      "a receipt of a reader (RFC 8098)",
      mixed(
        "multipart/report; report-type=disposition-notification",
        "Content-Type: message/disposition-notification\r\n\r\nDisposition: automatic; failed\r\n",
      ),
    ],
    [
      "an answer that quotes a report",
      mixed("multipart/mixed", `Content-Type: message/rfc822\r\n\r\n${failureReport()}`),
    ],
    [
      "a report without a boundary",
      "Content-Type: multipart/report\r\n\r\n--\r\nAction: failed\r\n",
    ],
  ])("%s", (_, mail) => expect(reports(mail)).toBe(false));
});

test("only the beginning of a mail is read, and a hostile mail takes no more time", () => {
  const nested = "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n".repeat(10_000);
  const parts = mixed("multipart/mixed", ...Array.from({ length: 50_000 }, () => "x"));
  // With a time that grows by the square of their length, these mails would take longer than a test
  // may.
  for (const mail of [nested, parts, " \r\n".repeat(500_000), "Content-Type:".repeat(100_000)]) {
    for (let count = 0; count < 20; count += 1) expect(reports(mail)).toBe(false);
  }
  expect(reports(`X: ${"x".repeat(REPORT_BYTES_MAX)}\r\n${failureReport()}`)).toBe(false);
});

// Defines the request and the replies of mail (SPEC 2.5, 4.6, 4.7).

import { MAIL } from "../../core/access/limits.ts";
import { PlainCost } from "../../http/reply-schema.ts";
import {
  type Checked,
  named,
  oneOf,
  optional,
  refused,
  Type,
  text,
  usdAmount,
  whole,
  wholeCount,
} from "../../http/schema.ts";

/** SPEC 4.6.1: the caller cannot choose the sender or the means of sending. */
const notSettable = refused({
  must: "cannot be set: see the fields of a message",
  code: "unsupported_field",
  description: "Refused",
});
const TO_RULE = "must be an address or an array of addresses";

export const MailBody = named("MailRequest", {
  from: notSettable,
  cc: notSettable,
  bcc: notSettable,
  headers: notSettable,
  attachments: notSettable,
  to: Type.Union([text(), Type.Array(text(), { minItems: 1, must: TO_RULE })], {
    must: TO_RULE,
    description: "One address or several; each distinct one counts",
  }),
  subject: text({
    description: `1 to ${MAIL.subjectCharactersMax} characters; line breaks are removed`,
  }),
  text: optional(
    text({ description: `At most ${MAIL.textBytesMax} bytes of UTF-8; it or \`html\` is needed` }),
  ),
  html: optional(
    text({
      description: `At most ${MAIL.htmlBytesMax} bytes of UTF-8; a footer goes before \`</body>\``,
    }),
  ),
  from_name: optional(
    text({
      description: `The sender's name: 1 to ${MAIL.fromNameCharactersMax} characters`,
    }),
  ),
  reply_to: optional(text({ description: "Where answers go; no address of this service" })),
});
export type MailFields = Checked<typeof MailBody>;

const count = (description: string) => whole(0, MAIL.toItemsMax, { description });
const head = {
  id: text({ pattern: "^msg_[0-9A-Za-z]{22}$" }),
  object: Type.Literal("mail.message"),
};

export const MailAnswer = named("MailMessage", {
  ...head,
  status: oneOf(["sent", "queued"], {
    description: "`sent`: the mail server accepted it. `queued`: it is tried again for 24 hours",
  }),
  from: text({ format: "email", description: "The address that belongs to the account" }),
  recipients: count("Distinct recipients"),
  accepted: count("Those that the mail server accepted"),
  rejected: count("Those that it refused"),
  svc: PlainCost,
});

export const MailStatusAnswer = named("MailStatus", {
  ...head,
  status: oneOf(["queued", "sent", "failed", "bounced"]),
  created: wholeCount("Unix time in seconds"),
  recipients: count("Distinct recipients"),
  accepted: count("Those that the mail server accepted"),
  domains: Type.Array(text(), { description: "The domains of the recipients" }),
  svc: Type.Object({
    request_id: PlainCost.properties.request_id,
    cost_usd: usdAmount("0: a look-up costs nothing"),
  }),
});

const ID = "0351Ki6Po6Ze8c7RSniYDy";
const svc = { request_id: `req_${ID}`, cost_usd: 0.0015 };
const message = { id: `msg_${ID}`, object: "mail.message", status: "sent" };

export const SEND_EXAMPLE = {
  summary: "A receipt",
  headers: { "Idempotency-Key": "order-1812" },
  body: {
    to: "ada@example.org",
    subject: "Your receipt",
    text: "Thank you.",
    reply_to: "shop@example.com",
  },
  reply: {
    ...message,
    from: "q2hi6yk4zv3x5abc@mail.example.com",
    recipients: 1,
    accepted: 1,
    rejected: 0,
    svc,
  },
};

export const STATUS_EXAMPLE = {
  summary: "A message that was sent",
  params: { id: `msg_${ID}` },
  reply: {
    ...message,
    created: 1_795_276_800,
    recipients: 1,
    accepted: 1,
    domains: ["example.org"],
    svc: { ...svc, cost_usd: 0 },
  },
};

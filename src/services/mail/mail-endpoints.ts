// Serves POST /v1/mail/send and GET /v1/mail/messages/{id} (SPEC 4.6, 4.7).

import { IDEMPOTENCY, MAIL } from "../../core/access/limits.ts";
import { ACCEPTED, OK } from "../../core/errors.ts";
import { toDecimal } from "../../core/money/money.ts";
import { jsonBody } from "../../http/body/json-body.ts";
import { type EndpointContext, endpoint } from "../../http/endpoint.ts";
import type { FrameDeps } from "../../http/frame.ts";
import { IDEMPOTENCY_HEADER, IdempotencyKey } from "../../http/idempotency.ts";
import { text } from "../../http/schema.ts";
import {
  MailAnswer,
  MailBody,
  MailStatusAnswer,
  SEND_EXAMPLE,
  STATUS_EXAMPLE,
} from "./mail-contract.ts";
import { resultJson, statusJson } from "./mail-json.ts";
import { toMailCall } from "./mail-request.ts";
import type { MailCallDeps } from "./mail-services.ts";
import { viewMessage } from "./mail-status.ts";
import { sendMail } from "./send-mail.ts";

/** The dependencies of the mail endpoints. */
export interface MailDeps extends FrameDeps, MailCallDeps {}

export const sendMessage = endpoint({
  id: "sendMail",
  surface: "gateway",
  method: "POST",
  path: "/v1/mail/send",
  service: "mail",
  access: "scope",
  isBilled: true,
  handlesRepeats: true,
  summary: "Send a message",
  description: `Paid from paid credit only. A repeat with the same \`Idempotency-Key\` within 48
hours is given the first answer, with the header \`Idempotent-Replayed: true\`, and sends nothing.
With another body the key is refused as \`idempotency_key_reused\`.`,
  body: jsonBody(MailBody, { bytesMax: MAIL.bodyBytesMax }),
  parameters: [
    {
      name: IDEMPOTENCY_HEADER,
      in: "header",
      required: false,
      description:
        `1 to ${IDEMPOTENCY.keyCharactersMax} printable ASCII characters; one that came with ` +
        "another body in the last 48 hours is refused",
      schema: IdempotencyKey,
    },
  ],
  reply: MailAnswer,
  replyHeaders: { "idempotent-replayed": "`true` where an earlier request made the message" },
  accepted: {
    status: ACCEPTED,
    description: "Queued: the mail server did not take it in time; it is tried for 24 hours",
  },
  errors: [
    "unsupported_field",
    "too_many_recipients",
    "idempotency_key_reused",
    "mail_rate_limit",
    "mail_daily_limit",
    "mail_rejected",
  ],
  examples: [SEND_EXAMPLE],
  prepare: (fields, { deps, request }: EndpointContext<MailDeps>) =>
    toMailCall(fields, request.headers, deps.mail.domain),
  run: ({ deps, call }, mail) => sendMail(deps, call, mail),
  answer({ deps, call }, _, result) {
    const { isRepeat } = result;
    return {
      json: resultJson(result, call.identity.accountId, deps.mail.domain),
      costUsd: toDecimal(result.cost),
      status: result.status === "queued" ? ACCEPTED : OK,
      isRepeat,
    };
  },
});

export const messageStatus = endpoint({
  id: "getMailMessage",
  surface: "gateway",
  method: "GET",
  path: "/v1/mail/messages/{id}",
  service: "mail",
  access: "scope",
  isBilled: false,
  summary: "Show what became of a message",
  parameters: [
    {
      name: "id",
      in: "path",
      required: true,
      description: "The `id` of the message",
      schema: text({ examples: ["msg_0351Ki6Po6Ze8c7RSniYDy"] }),
    },
  ],
  reply: MailStatusAnswer,
  errors: ["message_not_found"],
  examples: [STATUS_EXAMPLE],
  prepare: (_, { params }: EndpointContext<MailDeps>) => params.id ?? "",
  run: ({ deps, call }, id) => viewMessage(deps, call, id),
  answer: ({ call }, _, message) => ({ json: statusJson(message, call.requestId) }),
});

import { Elysia } from "elysia";
import { type Call, refuse } from "../../calls/call.ts";
import { ACCEPTED, ApiError, OK } from "../../core/errors.ts";
import { MAIL } from "../../core/limits.ts";
import { toDecimal } from "../../core/money.ts";
import {
  authenticated,
  type EndpointDeps,
  type RequestContext,
  responseMeta,
} from "../../http/endpoint.ts";
import { readJsonObject } from "../../http/read-body.ts";
import { jsonResponse } from "../../http/respond.ts";
import { allowQuiet, endQuiet } from "../../http/server.ts";
import { resultJson, statusJson } from "./mail-json.ts";
import { readMailCall } from "./mail-request.ts";
import type { MailServices } from "./mail-services.ts";
import { viewMessage } from "./mail-status.ts";
import { MAIL_TERMS } from "./mail-terms.ts";
import { type MailCall, sendMail } from "./send-mail.ts";

const SEND = "/v1/mail/send";
const MESSAGES = "/v1/mail/messages";

/** What the mail routes are given. */
export interface MailDeps extends EndpointDeps {
  readonly mail: MailServices;
}

/** POST /v1/mail/send and GET /v1/mail/messages/{id} (SPEC 4.6, 4.7). */
export function mail(deps: MailDeps) {
  const send = (call: Call, arrival: RequestContext) => answerSend(deps, call, arrival);
  return new Elysia({ name: "gateway/mail" })
    .post(SEND, ({ request, server }) => authenticated(deps, { request, server }, SEND, send), {
      parse: "none",
    })
    .get(`${MESSAGES}/:id`, ({ request, server, params }) =>
      authenticated(deps, { request, server }, MESSAGES, (call) =>
        answerStatus(deps, call, params.id),
      ),
    );
}

async function answerSend(deps: MailDeps, call: Call, arrival: RequestContext): Promise<Response> {
  const { request, server } = arrival;
  const wanted = await readCall(deps, call, arrival);
  // Whoever waits for the mail server may be quiet for longer than a connection may.
  allowQuiet(server, request);
  try {
    const result = await sendMail(deps.calls, deps.mail, call, wanted);
    const costUsd = toDecimal(result.cost);
    const body = resultJson(result, call.identity.accountId, deps.mail.domain, costUsd);
    const status = result.status === "queued" ? ACCEPTED : OK;
    const { isRepeat } = result;
    return jsonResponse(body, { ...responseMeta(call), costUsd, status, isRepeat });
  } finally {
    endQuiet(server, request);
  }
}

/** The checked call; one that must be refused is counted and logged by its account first. */
async function readCall(deps: MailDeps, call: Call, arrival: RequestContext): Promise<MailCall> {
  try {
    arrival.isReadingBody = true;
    const rules = { bytesMax: MAIL.bodyBytesMax, clock: deps.calls.clock };
    const body = await readJsonObject(arrival.request, rules);
    arrival.isReadingBody = false;
    const wanted = readMailCall(body, arrival.request.headers, deps.mail.domain);
    if (!deps.pauses.isPaused("mail")) return wanted;
    throw new ApiError("mail_unavailable", "Sending mail is paused");
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return await refuse(deps.calls, call, MAIL_TERMS, error);
  }
}

async function answerStatus(deps: MailDeps, call: Call, id: string): Promise<Response> {
  const message = await viewMessage(deps.calls, deps.mail.messages, call, id);
  return jsonResponse(statusJson(message, call.requestId), responseMeta(call));
}

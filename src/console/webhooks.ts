// The webhooks of an account: GET and POST …/webhooks, and below it the changes of one webhook and
// the log of deliveries. The path of an address may be a secret, so that viewers see none.

import {
  addReceiver,
  type ReceiverTarget,
  removeReceiver,
  replayFailed,
  replayOne,
  rotateSecret,
  testReceiver,
  updateReceiver,
  type WebhookDeps,
} from "../accounts/webhooks.ts";
import { flag, nested, text, type WireOf } from "../core/records.ts";
import { timeFrom } from "../core/text/field-rules.ts";
import { FORM_FIELDS } from "../core/text/form-fields.ts";
import { WEBHOOK_EVENT_TYPES, type WebhookEventType } from "../core/webhooks/webhook-events.ts";
import { REPLAYS_MAX, webhookUrl } from "../core/webhooks/webhook-rules.ts";
import { readField } from "../http/body/checks.ts";
import { jsonBody } from "../http/body/json-body.ts";
import {
  type AccountContext,
  accountEndpoint,
  type ConsoleFrameDeps,
} from "../http/console/console-endpoint.ts";
import { requestId, time } from "../http/console/fields.ts";
import { replyWith } from "../http/console/record-schema.ts";
import { type Checked, nameText, oneOf, optional, shortText, Type } from "../http/schema.ts";
import { numberFrom } from "../readings/list-reading.ts";
import { count, type Reading } from "../readings/reading.ts";
import { noted } from "./noted.ts";
import { DELIVERIES, Webhook, Webhooks, webhookJson, webhooksReply } from "./webhook-lists.ts";

export interface WebhooksDeps extends ConsoleFrameDeps, WebhookDeps {
  readonly reading: Reading;
}

type WebhooksContext = AccountContext<WebhooksDeps>;

const PATH = "/console/api/accounts/{account}/webhooks";
const ONE = `${PATH}/{webhook}`;
const BODY_BYTES_MAX = 16 * 1_024;

const { webhookUrl: webhookUrlRule, webhookNote } = FORM_FIELDS;

const Terms = {
  url: shortText(webhookUrlRule.charactersMax, {
    description: "Where events are sent: https, at the port 443 or 8443",
    must: `must be an address of at most ${webhookUrlRule.charactersMax} characters`,
  }),
  description: nameText(webhookNote.charactersMax, {
    minLength: 0,
    description: "A note for people",
  }),
  events: Type.Array(oneOf(WEBHOOK_EVENT_TYPES), {
    minItems: 1,
    maxItems: WEBHOOK_EVENT_TYPES.length,
    uniqueItems: true,
    must: "must be a list of at least one type of event, each once",
    description: "The types that it gets",
  }),
};

const NewBody = Type.Object(
  {
    ...Terms,
    request: optional(
      requestId(
        "The page's own id of this addition: for 24 hours the same one with the same terms gets " +
          "the webhook that it added, with its secret",
      ),
    ),
  },
  { additionalProperties: false },
);
const ChangeBody = Type.Object(
  { ...Terms, enabled: Type.Boolean({ description: "Whether it gets events" }) },
  { additionalProperties: false },
);

const WithSecret = {
  webhook: nested(Webhook),
  secret: text({
    about: "What the events are signed with: shown here and never again",
    sample: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  }),
};
export type WebhookWithSecretReply = WireOf<typeof WithSecret>;

const Changed = { webhook: nested(Webhook) };
export type ChangedWebhookReply = WireOf<typeof Changed>;

const Replayed = {
  replayed: count("Events that are sent again", 3),
};

const Done = { done: flag({ sample: true }) };

const TERMS = {
  url: "https://example.com/hooks/farebox",
  description: "production",
  events: ["balance.low", "topup.failed"],
} as const;

const listWebhooks = accountEndpoint({
  id: "listWebhooks",
  method: "GET",
  path: PATH,
  role: "admin",
  summary: "List the webhooks of an account, and the types of events",
  ...replyWith(Webhooks, { summary: "One webhook" }),
  run: ({ deps, account }: WebhooksContext) => webhooksReply(deps.reading.database, account),
});

const createWebhook = accountEndpoint({
  id: "createWebhook",
  method: "POST",
  path: PATH,
  role: "admin",
  summary: "Add a webhook; its secret is shown only once",
  body: jsonBody(NewBody, { bytesMax: BODY_BYTES_MAX }),
  ...replyWith(WithSecret, { summary: "Two types of events", body: TERMS }),
  async run(context: WebhooksContext, fields: Checked<typeof NewBody>) {
    const terms = termsOf(context, fields);
    const also = noted(context, "webhook_added", hostOf(terms.url));
    const target = { account: context.account, also };
    const order = { ...terms, request: fields.request ?? null };
    const { receiver, secret } = await addReceiver(context.deps, target, order);
    return { webhook: webhookJson(receiver), secret };
  },
});

const changeWebhook = accountEndpoint({
  id: "changeWebhook",
  method: "POST",
  path: `${ONE}/change`,
  role: "admin",
  summary: "Change a webhook, enable or disable it",
  body: jsonBody(ChangeBody, { bytesMax: BODY_BYTES_MAX }),
  ...replyWith(Changed, { summary: "Enabled again", body: { ...TERMS, enabled: true } }),
  async run(context: WebhooksContext, fields: Checked<typeof ChangeBody>) {
    const terms = termsOf(context, fields);
    const target = targetOf(context, "webhook_changed", hostOf(terms.url));
    const change = { ...terms, enabled: fields.enabled };
    const receiver = await updateReceiver(context.deps, target, change);
    return { webhook: webhookJson(receiver) };
  },
});

const RotateBody = Type.Object(
  {
    request: requestId(
      "The page's own id of this rotation: for 24 hours the same one gets the same secret, " +
        "unless another rotation followed",
    ),
  },
  { additionalProperties: false },
);

const rotateWebhook = accountEndpoint({
  id: "rotateWebhook",
  method: "POST",
  path: `${ONE}/rotate`,
  role: "admin",
  summary: "Give a webhook a new secret; the one before it signs too for 24 hours",
  body: jsonBody(RotateBody, { bytesMax: BODY_BYTES_MAX }),
  ...replyWith(WithSecret, {
    summary: "A new secret",
    body: { request: "5f0c2a9e-3d0b-4a57-8f0e-0c6b8e1d7a42" },
  }),
  async run(context: WebhooksContext, { request }: Checked<typeof RotateBody>) {
    const target = targetOf(context, "webhook_rotated", "its secret");
    const { receiver, secret } = await rotateSecret(context.deps, target, request);
    return { webhook: webhookJson(receiver), secret };
  },
});

const deleteWebhook = accountEndpoint({
  id: "deleteWebhook",
  method: "POST",
  path: `${ONE}/delete`,
  role: "admin",
  summary: "Delete a webhook and its log",
  ...replyWith(Done, { summary: "Deleted" }),
  async run(context: WebhooksContext) {
    await removeReceiver(context.deps, targetOf(context, "webhook_deleted", "a webhook"));
    return { done: true };
  },
});

const testWebhook = accountEndpoint({
  id: "testWebhook",
  method: "POST",
  path: `${ONE}/test`,
  role: "admin",
  summary: "Send a test event to a webhook",
  ...replyWith(Done, { summary: "It is on its way" }),
  async run(context: WebhooksContext) {
    await testReceiver(context.deps, targetOf(context, "webhook_tested", "a webhook"));
    return { done: true };
  },
});

const listDeliveries = accountEndpoint({
  id: "listDeliveries",
  path: `${PATH}/deliveries`,
  role: "admin",
  summary: "List what was sent to the webhooks of an account, newest first",
  description: "Deliveries that ended are kept for 30 days.",
  ...DELIVERIES.endpoint("Failed ones", "status=failed"),
  run: ({ deps, account }: WebhooksContext, input) =>
    DELIVERIES.page({ reading: deps.reading, account }, input),
});

const ReplayBody = Type.Object(
  { since: time("Events that happened since then") },
  { additionalProperties: false },
);

const replayWebhook = accountEndpoint({
  id: "replayWebhook",
  method: "POST",
  path: `${ONE}/replay`,
  role: "admin",
  summary: "Send again what a webhook did not take since a time",
  description: `At most ${REPLAYS_MAX} events at once, the oldest first.`,
  body: jsonBody(ReplayBody, { bytesMax: BODY_BYTES_MAX }),
  ...replyWith(Replayed, {
    summary: "Since a day",
    body: { since: "2026-11-21T00:00:00.000Z" },
  }),
  async run(context: WebhooksContext, { since }: Checked<typeof ReplayBody>) {
    const target = targetOf(context, "webhook_replayed", "failed events");
    const at = readField("since", () => timeFrom(since));
    return { replayed: await replayFailed(context.deps, target, at) };
  },
});

const replayDelivery = accountEndpoint({
  id: "replayDelivery",
  method: "POST",
  path: `${PATH}/deliveries/{delivery}/replay`,
  role: "admin",
  summary: "Send one event to its webhook again",
  ...replyWith(Done, { summary: "It is on its way" }),
  async run(context: WebhooksContext) {
    const { account, params } = context;
    const also = noted(context, "webhook_replayed", "one event");
    const delivery = numberFrom(params.delivery ?? "") ?? 0;
    await replayOne(context.deps, { account, also }, { delivery });
    return { done: true };
  },
});

export const WEBHOOK_ENDPOINTS = [
  listWebhooks,
  createWebhook,
  changeWebhook,
  rotateWebhook,
  deleteWebhook,
  testWebhook,
  listDeliveries,
  replayWebhook,
  replayDelivery,
] as const;

interface TermFields {
  readonly url: string;
  readonly description: string;
  readonly events: readonly WebhookEventType[];
}

/** @throws ApiError that names the field */
function termsOf({ deps }: WebhooksContext, { url, description, events }: TermFields) {
  const { href } = readField("url", () => webhookUrl(url.trim(), deps.webhooks));
  return { url: href, description: description.trim(), events: [...events] };
}

function targetOf(context: WebhooksContext, action: string, about: string): ReceiverTarget {
  const { account, params } = context;
  return { account, id: params.webhook ?? "", also: noted(context, action, about) };
}

/** The host names the webhook in the activity, which people without its role read. */
function hostOf(url: string): string {
  return new URL(url).host;
}

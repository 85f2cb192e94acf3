// Writes the webhooks of an OpenAPI 3.1 document: the events that addresses of an account get
// (D-796).

import { capitalised } from "../../core/text/capital.ts";
import type { Json } from "../../core/text/json.ts";
import {
  sampleData,
  TEST_EVENT,
  WEBHOOK_EVENT_TYPES,
  WEBHOOK_EVENTS,
  webhookBody,
} from "../../core/webhooks/webhook-events.ts";
import { WEBHOOK_HEADERS } from "../../core/webhooks/webhook-signature.ts";
import { time } from "../console/fields.ts";
import { schemaOf } from "../console/record-schema.ts";
import { anyObject, named, type TSchema, Type, text } from "../schema.ts";
import type { SchemaWriter } from "./openapi-schema.ts";

/** The name under which the document has these operations. */
export const WEBHOOK_TAG = {
  name: "webhooks",
  description:
    "Events that your own addresses get, in the form of Standard Webhooks 1.0. The dashboard " +
    "adds addresses; /docs/webhooks says how to verify the signature.",
};

const EVENT_ID = "evt_7n42DGM5Tflk9n8mt7Fhc7";
const ACCOUNT_ID = "acct_7n42DGM5Tflk9n8mt7Fhc7";
const AT = new Date("2026-11-22T14:03:20.000Z");

interface DocumentedEvent {
  readonly type: string;
  readonly about: string;
  readonly data: TSchema;
  readonly sample: object;
}

/** Every event by its type. */
export function webhooksOf(writer: SchemaWriter): Json {
  const events: DocumentedEvent[] = WEBHOOK_EVENT_TYPES.map((type) => {
    const { about, data } = WEBHOOK_EVENTS[type];
    return { type, about, data: schemaOf(data), sample: sampleData(type) };
  });
  events.push({
    type: TEST_EVENT,
    about: "Somebody pressed the test button.",
    data: anyObject(),
    sample: { webhook: "hook_7n42DGM5Tflk9n8mt7Fhc7" },
  });
  return Object.fromEntries(events.map((one) => [one.type, { post: eventOperation(one, writer) }]));
}

function eventOperation(
  { type, about, data, sample }: DocumentedEvent,
  writer: SchemaWriter,
): Json {
  const name = nameOf(type);
  const schema = named(`${name}Event`, {
    id: text({ pattern: "^evt_[0-9A-Za-z]{22}$", description: "The same at every attempt" }),
    type: Type.Literal(type),
    timestamp: time("When it happened"),
    account: text({ pattern: "^acct_[0-9A-Za-z]{22}$" }),
    data,
  });
  const body = webhookBody({
    id: EVENT_ID,
    type,
    account: ACCOUNT_ID,
    at: AT,
    data: JSON.stringify(sample),
  });
  return {
    operationId: `on${name}`,
    tags: [WEBHOOK_TAG.name],
    summary: type,
    description: about,
    security: [],
    parameters: Object.entries(WEBHOOK_HEADERS).map(([header, description]) => ({
      name: header,
      in: "header",
      required: true,
      description,
      schema: { type: "string" },
    })),
    requestBody: {
      required: true,
      content: { "application/json": { schema: writer.write(schema), example: JSON.parse(body) } },
    },
    responses: RESPONSES,
  };
}

const RESPONSES: Json = {
  "2XX": { description: "The event is delivered" },
  "410": { description: "The webhook is disabled at once" },
  default: { description: "The event is sent again, for 24 hours" },
};

/** "BalanceLow" of "balance.low". */
function nameOf(type: string): string {
  return type
    .split(/[._]/)
    .map((word) => capitalised(word))
    .join("");
}

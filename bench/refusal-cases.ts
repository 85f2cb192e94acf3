// Lists the refused requests of `npm run bench -- --refusals`: for each code the largest body that
// its endpoint takes, in the most expensive form.

import { CHAT, SEARCH } from "../src/core/access/limits.ts";
import type { ErrorCode } from "../src/core/errors.ts";
import type { AccountTerms } from "../test/support/stores/accounts.ts";

export interface RefusalCase {
  readonly name?: string;
  readonly terms?: AccountTerms;
  /** Sent in place of the account's key. */
  readonly key?: string;
  readonly method?: string;
  readonly path?: string;
  readonly body: () => string;
  /** A service or model that is paused during the requests. */
  readonly pause?: string;
  /** True if the window of the key must be full. */
  readonly isOverLimit?: true;
}

const MEBIBYTE = 1024 * 1024;
/** The path of chats. */
export const CHAT_PATH = "/v1/chat/completions";
const BATCH = "/v1/search/batch";
const RICH = { paid: "5000", contract: "enterprise" } as const;

/** A chat of so many bytes, nearly. */
export const longChat = (fields: object = {}, bytes: number = CHAT.bodyBytesMax) =>
  JSON.stringify({
    model: "plain",
    messages: [{ role: "user", content: "x".repeat(bytes - 1_000) }],
    ...fields,
  });
const text = () => longChat();

const RESPONSES_PATH = "/v1/responses";
const MESSAGES_PATH = "/v1/messages";

/** A session of an agent with so many items, the last of which is given. */
const session = (count: number, last: object) =>
  JSON.stringify({
    model: "plain",
    input: [
      ...Array.from({ length: count - 1 }, () => ({ role: "user", content: "x".repeat(380) })),
      last,
    ],
  });
/** As many messages, alternately of both roles. */
const exchange = (count: number, last: object) =>
  JSON.stringify({
    model: "plain",
    max_tokens: 1_000,
    messages: [
      ...Array.from({ length: count - 1 }, (_, at) => ({
        role: at % 2 === 0 ? "user" : "assistant",
        content: "x".repeat(380),
      })),
      last,
    ],
  });
const ASKED = { role: "user", content: "What is a hold?" };
/** 9,900 keys, no name of which was seen before. */
let seen = 0;
const keys = () => {
  seen += 1;
  return Object.fromEntries(Array.from({ length: 9_900 }, (_, at) => [`k${seen}_${at}`, 1]));
};

/**
 * The cases by error code. Codes that need no body, a fault, a mail server or open streams are left
 * out.
 */
export const REFUSAL_CASES: Partial<Record<ErrorCode, readonly RefusalCase[]>> = {
  not_found: [{ path: "/v1/nothing", body: text }],
  method_not_allowed: [{ method: "PUT", body: text }],
  missing_api_key: [{ key: "", body: text }],
  invalid_api_key: [{ key: "svc_live_7n42DGM5Tflk9n8mt7Fhc7", body: text }],
  account_inactive: [{ terms: { state: "suspended", contract: "enterprise" }, body: text }],
  payment_required: [{ terms: { reversed: "2", contract: "enterprise" }, body: text }],
  ip_not_allowed: [{ terms: { ip: ["192.0.2.0/24"], contract: "enterprise" }, body: text }],
  insufficient_scope: [{ terms: { scopes: ["search"], contract: "enterprise" }, body: text }],
  tier_required: [{ terms: { scopes: ["mail"] }, path: "/v1/mail/send", body: text }],
  rate_limit_exceeded: [
    { body: text, isOverLimit: true },
    { name: "9,900 keys", body: () => longChat(keys(), 2_000), isOverLimit: true },
  ],
  body_too_large: [{ terms: RICH, body: () => longChat({}, CHAT.bodyBytesMax + 2_000) }],
  invalid_json: [
    { terms: RICH, body: () => text().slice(0, -1) },
    { terms: RICH, name: "deep", body: () => "[".repeat(4 * MEBIBYTE) },
  ],
  messages_required: [
    { terms: RICH, body: () => longChat({ messages: [] }, 1_000) + " ".repeat(4e6) },
  ],
  batch_too_large: [
    {
      terms: { paid: "5" },
      path: BATCH,
      body: () => JSON.stringify(Array(100).fill({ query: "x".repeat(10_000) })),
    },
  ],
  invalid_parameter: [
    {
      terms: RICH,
      name: "10,000 items",
      path: RESPONSES_PATH,
      body: () => session(10_000, { type: "unheard_of" }),
    },
    {
      terms: RICH,
      name: "10,001 items",
      path: RESPONSES_PATH,
      body: () => session(10_001, ASKED),
    },
    {
      terms: RICH,
      name: "10,000 messages",
      path: MESSAGES_PATH,
      body: () => exchange(10_000, { role: "nobody", content: "x" }),
    },
    { terms: RICH, body: () => longChat({ temperature: 3 }) },
    { terms: RICH, name: "9,900 keys", body: () => longChat(keys(), 2_000) },
    {
      terms: RICH,
      name: "90,000 values",
      body: () => longChat({ metadata: Array(90_000).fill(1), temperature: 3 }, 2_000),
    },
  ],
  // A prompt that is too long to count is sent.
  model_not_found: [
    { terms: RICH, body: () => longChat({ model: "none" }) },
    {
      terms: RICH,
      name: "10,000 items",
      path: RESPONSES_PATH,
      body: () => session(10_000, ASKED).replace('"plain"', '"none"'),
    },
  ],
  model_unavailable: [{ terms: RICH, pause: "chat", body: text }],
  search_unavailable: [
    {
      terms: RICH,
      path: "/v1/search",
      pause: "search",
      body: () => JSON.stringify({ query: "x" }) + " ".repeat(SEARCH.bodyBytesMax - 100),
    },
  ],
  mail_unavailable: [{ terms: RICH, path: "/v1/mail/send", pause: "mail", body: text }],
  key_budget_exceeded: [{ terms: { ...RICH, monthlyLimit: "0.000001" }, body: text }],
  monthly_limit_reached: [{ terms: { ...RICH, ownCap: "0.000001" }, body: text }],
  insufficient_credits: [
    { terms: { contract: "enterprise", free: "0.000001" }, body: text },
    {
      terms: { contract: "enterprise", free: "0.000001" },
      name: "10,000 items",
      path: RESPONSES_PATH,
      body: () => session(10_000, ASKED),
    },
  ],
};

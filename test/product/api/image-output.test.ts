// Models that give images: the requests to their servers, the replies and costs for callers of each
// door, and which doors refuse such a model. Servers write OpenRouter's form and Gemini's, over
// HTTP.

import { beforeEach, describe, expect, test } from "bun:test";
import { pricesOf } from "../../../src/core/money/call-cost.ts";
import { nano, price, usd } from "../../../src/core/money/money.ts";
import type { ModelEntry } from "../../../src/services/chat/models/catalogue.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { chatBody, errorOf, until } from "../../support/api/api-world.ts";
import { chatOver, modelOf, providerAt } from "../../support/api/chat-routes.ts";
import { pngUrl } from "../../support/api/images.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { closedGate, type Gate } from "../../support/gate.ts";
import { sharedServer } from "../../support/shared.ts";
import { type AccountTerms, daysAgo, type TestAccount } from "../../support/stores/accounts.ts";

const PAYING: AccountTerms = { paid: "100", paidAt: daysAgo(10), contract: "enterprise" };
const IMAGE_TOKENS = 1_290;
const IMAGE = pngUrl(1_024, 1_024);
/** More than a reply without images may have in one event. */
const LARGE = `data:image/png;base64,${"A".repeat(3 * 1024 * 1024)}`;
const TEXT = "A tram at dusk.";
const PROMPT_TOKENS = 10;
const TEXT_TOKENS = 6;

const upstream = {
  asked: [] as Record<string, unknown>[],
  held: [] as bigint[],
  images: [IMAGE] as readonly string[],
  hasUsage: true,
  caller: null as TestAccount | null,
  /** Holds a stream back after its image. */
  gate: null as Gate | null,
};

const imageTokens = () => upstream.images.length * IMAGE_TOKENS;
const events = (frames: readonly object[]) =>
  new Response(
    new ReadableStream({
      async start(stream) {
        for (const frame of frames) {
          stream.enqueue(Buffer.from(`data: ${JSON.stringify(frame)}\n\n`));
        }
        await upstream.gate?.pass();
        stream.close();
      },
    }),
    { headers: { "content-type": "text/event-stream" } },
  );

async function note(request: Request): Promise<Record<string, unknown>> {
  const body = (await request.json()) as Record<string, unknown>;
  upstream.asked.push(body);
  if (upstream.caller !== null) upstream.held.push((await api.view(upstream.caller)).heldPaid);
  return body;
}

/** As OpenRouter. */
function chatAnswer(isStream: boolean): Response {
  const details = { completion_tokens_details: { image_tokens: imageTokens() } };
  const output = TEXT_TOKENS + imageTokens();
  const counts = {
    prompt_tokens: PROMPT_TOKENS,
    completion_tokens: output,
    total_tokens: PROMPT_TOKENS + output,
  };
  const usage = upstream.hasUsage ? { ...counts, ...details } : undefined;
  const images = upstream.images.map((url) => ({ type: "image_url", image_url: { url } }));
  const said = { role: "assistant", content: TEXT };
  const end = { index: 0, finish_reason: "stop" };
  if (!isStream)
    return Response.json({ choices: [{ ...end, message: { ...said, images } }], usage });
  if (upstream.gate !== null) {
    return events([
      { choices: [{ index: 0, delta: said }] },
      { choices: [{ index: 0, delta: { images } }] },
    ]);
  }
  return events([
    { choices: [{ index: 0, delta: said }] },
    { choices: [{ index: 0, delta: { images } }] },
    { choices: [{ ...end, delta: {} }], ...(usage !== undefined && { usage }) },
  ]);
}

/** As Gemini. */
function geminiAnswer(isStream: boolean): Response {
  const parts = [
    { text: TEXT },
    ...upstream.images.map((url) => ({
      inlineData: { mimeType: "image/png", data: url.slice(url.indexOf(",") + 1) },
    })),
  ];
  const usageMetadata = {
    promptTokenCount: PROMPT_TOKENS,
    candidatesTokenCount: TEXT_TOKENS + imageTokens(),
    totalTokenCount: PROMPT_TOKENS + TEXT_TOKENS + imageTokens(),
    candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: imageTokens() }],
  };
  const chunk = (some: readonly object[], isLast: boolean) => ({
    candidates: [
      {
        content: { role: "model", parts: some },
        index: 0,
        ...(isLast && { finishReason: "STOP" }),
      },
    ],
    modelVersion: "gemini-x",
    ...(isLast && upstream.hasUsage && { usageMetadata }),
  });
  if (!isStream) return Response.json(chunk(parts, true));
  return events(parts.map((part, at) => chunk([part], at === parts.length - 1)));
}

const server = sharedServer(async (request) => {
  const { pathname } = new URL(request.url);
  const body = await note(request);
  if (pathname.startsWith("/gemini")) return geminiAnswer(pathname.includes(":stream"));
  return chatAnswer(body.stream === true);
});
const at = (name: string) => `${String(server.url)}${name}`;

const PRICES = pricesOf([
  {
    input: price("4", 1_000_000),
    output: price("8", 1_000_000),
    cachedInput: null,
    others: { imageOut: price("30", 1_000_000) },
  },
]);
const COST = nano(BigInt(PROMPT_TOKENS * 4_000 + TEXT_TOKENS * 8_000 + IMAGE_TOKENS * 30_000));
const giving = (id: string, route: string): ModelEntry => ({
  ...modelOf([route, "x"]),
  id,
  prices: PRICES,
  imageTokens: IMAGE_TOKENS,
});
const { imageTokens: _, ...undeclared } = giving("undeclared", "own");
const catalogue = catalogueOf(
  [
    giving("own-images", "own"),
    giving("gemini-images", "gemini"),
    { ...giving("large-images", "own"), imageTokens: 5_000 },
    undeclared,
    {
      ...giving("seeing", "own"),
      media: { kinds: ["image"], imageBounds: [500], pdfTokensMax: 1, takesAddresses: false },
    },
    { ...modelOf(["own", "x"]), id: "text", prices: PRICES },
  ],
  [
    providerAt(at("own"), { name: "own" }),
    providerAt(at("gemini"), { name: "gemini", kind: "google" }),
  ],
);
const api = await sharedApi({ catalogue: () => catalogue, chat: chatOver(catalogue) });

beforeEach(() => {
  upstream.asked.length = 0;
  upstream.held.length = 0;
  upstream.images = [IMAGE];
  upstream.hasUsage = true;
  upstream.gate = null;
  upstream.caller = null;
});

async function caller(): Promise<TestAccount> {
  const account = await api.account(PAYING);
  upstream.caller = account;
  return account;
}

interface Json {
  // biome-ignore lint/suspicious/noExplicitAny: replies are read by the tests field by field
  readonly [name: string]: any;
}

/** The JSON of all events of a stream. */
async function framesOf(response: Response): Promise<readonly Json[]> {
  const text = await response.text();
  return text
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice(6)) as Json);
}

const spentBy = async (account: TestAccount) => usd("100") - (await api.view(account)).paid;
const MODELS = ["own-images", "gemini-images"] as const;

describe.each(MODELS)("%s", (model) => {
  const body = (more: object) =>
    chatBody({ model, max_tokens: 2_000, modalities: ["text", "image"], ...more });

  test("gives images in a whole reply, at their own price, within the hold", async () => {
    const account = await caller();
    const response = await api.post(account, body({}));
    expect(response.status).toBe(200);
    const { choices, usage } = (await response.json()) as Json;
    expect(choices[0].message).toEqual({
      role: "assistant",
      content: TEXT,
      images: [{ type: "image_url", image_url: { url: IMAGE } }],
    });
    expect(usage.completion_tokens).toBe(TEXT_TOKENS + IMAGE_TOKENS);
    expect(await spentBy(account)).toBe(COST);
    expect(upstream.held[0]).toBeGreaterThanOrEqual(2_000n * 30_000n);
    const [asked] = upstream.asked as Json[];
    const modalities = asked?.modalities ?? asked?.generationConfig?.responseModalities;
    expect(modalities.map((one: string) => one.toLowerCase())).toEqual(["text", "image"]);
  });

  test("gives the same in a stream, also an image of three megabytes", async () => {
    upstream.images = [LARGE];
    const account = await caller();
    const frames = await framesOf(await api.post(account, body({ stream: true })));
    const deltas = frames.flatMap(({ choices }) => choices.map(({ delta }: Json) => delta));
    expect(deltas.map(({ content = "" }) => content).join("")).toBe(TEXT);
    expect(deltas.flatMap(({ images = [] }) => images)).toEqual([
      { type: "image_url", image_url: { url: LARGE } },
    ]);
    expect(await spentBy(account)).toBe(COST);
  });

  test("gives them to Responses as items, whole and streamed", async () => {
    const asked = {
      model,
      input: "Draw a tram.",
      max_output_tokens: 2_000,
      store: false,
      tools: [{ type: "image_generation" }],
    };
    const account = await caller();
    const whole = (await (await api.postTo("/v1/responses", account, asked)).json()) as Json;
    const item = { type: "image_generation_call", status: "completed", output_format: "png" };
    const result = IMAGE.slice(IMAGE.indexOf(",") + 1);
    expect(whole.output.map(({ type }: Json) => type)).toEqual([
      "message",
      "image_generation_call",
    ]);
    expect(whole.output[1]).toMatchObject({ ...item, result });
    expect(whole.svc.ignored).toBeUndefined();
    expect(await spentBy(account)).toBe(COST);
    const streamed = await api.postTo("/v1/responses", account, { ...asked, stream: true });
    const frames = await framesOf(streamed);
    const drawn = frames.filter(({ type }) => type.startsWith("response.image_generation_call"));
    expect(drawn.map(({ type }) => type.split(".").at(-1))).toEqual(["in_progress", "completed"]);
    const last = frames.at(-1)?.response;
    expect(last.output[1]).toMatchObject({ ...item, result });
    expect(frames.map(({ sequence_number: one }) => one)).toEqual(frames.map((__, index) => index));
  });

  test("charges images by their most tokens where the server counts nothing", async () => {
    upstream.hasUsage = false;
    const account = await caller();
    const { usage } = (await (await api.post(account, body({}))).json()) as Json;
    const text = usage.completion_tokens - IMAGE_TOKENS;
    expect(text).toBeGreaterThan(0);
    const input = BigInt(usage.prompt_tokens * 4_000 + text * 8_000);
    expect(await spentBy(account)).toBe(input + BigInt(IMAGE_TOKENS) * 30_000n);
  });

  test.each([
    ["/v1/messages", { messages: [{ role: "user", content: "Draw" }], max_tokens: 2_000 }],
    ["/v1/completions", { prompt: "Draw", max_tokens: 2_000 }],
  ])("is refused by name at %s, and nothing is held", async (path, more) => {
    const account = await caller();
    const response = await api.postTo(path, account, { model, ...more });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(`must not be '${model}' here: it gives images`);
    expect([upstream.asked.length, await spentBy(account)]).toEqual([0, 0n]);
  });

  test("refuses an output limit that has no room for an image", async () => {
    const account = await caller();
    const response = await api.post(account, body({ max_tokens: 1_000 }));
    const { code, message } = await errorOf(response);
    expect([code, message]).toEqual([
      "invalid_parameter",
      `max_tokens must be at least 1290: an image of '${model}' has up to 1290 tokens`,
    ]);
  });
});

test("Responses without a limit has room for an image above the usual default", async () => {
  const account = await caller();
  const tools = [{ type: "image_generation" }];
  const asked = { model: "large-images", input: "Draw a tram.", store: false, tools };
  expect((await api.postTo("/v1/responses", account, asked)).status).toBe(200);
  expect(upstream.asked[0]?.max_tokens).toBeGreaterThanOrEqual(5_000);
});

test("a cap on the cost that pays for no whole image refuses the call unsent", async () => {
  const account = await caller();
  const body = chatBody({ model: "own-images", max_tokens: 2_000, modalities: ["text", "image"] });
  const within = (cost: string) =>
    api.post(account, body, { headers: { "x-svc-max-cost-usd": cost } });
  const refused = await within("0.02");
  expect([refused.status, (await errorOf(refused)).code]).toEqual([402, "max_cost_exceeded"]);
  expect(upstream.asked).toEqual([]);
  expect((await within("0.05")).status).toBe(200);
  expect(upstream.asked[0]?.max_tokens).toBeGreaterThanOrEqual(IMAGE_TOKENS);
});

test("a caller who leaves a stream after its image pays for the image", async () => {
  upstream.gate = closedGate();
  try {
    const account = await caller();
    const leaving = new AbortController();
    const body = chatBody({ model: "own-images", stream: true, max_tokens: 2_000 });
    const response = await api.post(account, body, { signal: leaving.signal });
    const reader = response.body?.getReader();
    let text = "";
    while (!text.includes('"images"')) {
      text += Buffer.from((await reader?.read())?.value ?? []).toString();
    }
    leaving.abort();
    await until(async () => (await api.view(account)).heldPaid === 0n, "the hold is settled");
    expect(await spentBy(account)).toBeGreaterThan(BigInt(IMAGE_TOKENS) * 30_000n);
  } finally {
    upstream.gate.open();
  }
});

test("a model that is not known to give images is not asked for them", async () => {
  const account = await caller();
  const body = chatBody({ model: "text", modalities: ["image"] });
  expect((await errorOf(await api.post(account, body))).message).toBe(
    "modalities must not have 'image': 'text' gives text only",
  );
  const tools = [{ type: "image_generation" }];
  for (const stream of [false, true]) {
    const tool = { model: "text", input: "Draw", stream, tools };
    const answer = await api.postTo("/v1/responses", account, tool);
    const text = await answer.text();
    expect(text).toContain('"ignored":["tools: image_generation"]');
    expect(JSON.stringify(upstream.asked.at(-1))).not.toMatch(/image_generation|modalities/);
  }
  const forced = { model: "text", input: "Draw", tools, tool_choice: { type: tools[0]?.type } };
  const { code, message } = await errorOf(await api.postTo("/v1/responses", account, forced));
  expect([code, message]).toEqual([
    "invalid_parameter",
    "tool_choice.type must not be 'image_generation': such tools are not served",
  ]);
});

test("images that such a model gives unasked reach nobody, and nobody pays for them", async () => {
  const account = await caller();
  const body = chatBody({ model: "undeclared" });
  const { choices, usage } = (await (await api.post(account, body)).json()) as Json;
  expect(choices[0].message).toEqual({ role: "assistant", content: TEXT });
  expect(usage.completion_tokens).toBe(TEXT_TOKENS);
  expect(await spentBy(account)).toBe(COST - BigInt(IMAGE_TOKENS) * 30_000n);
});

test("only whole images of base64 are taken over", async () => {
  upstream.images = ["https://10.0.0.1/secret.png", "data:text/html;base64,PGI+", IMAGE];
  const account = await caller();
  const body = chatBody({ model: "own-images", max_tokens: 5_000 });
  const { choices } = (await (await api.post(account, body)).json()) as Json;
  expect(choices[0].message.images).toEqual([{ type: "image_url", image_url: { url: IMAGE } }]);
});

test("an image of a reply goes back to the model as an image of the conversation", async () => {
  const account = await caller();
  const result = IMAGE.slice(IMAGE.indexOf(",") + 1);
  const input = [
    { role: "user", content: "Draw a tram." },
    { type: "image_generation_call", id: "ig_1", status: "completed", result },
    { role: "user", content: "Make it blue." },
  ];
  const asked = { model: "seeing", input, max_output_tokens: 2_000 };
  expect((await api.postTo("/v1/responses", account, asked)).status).toBe(200);
  const { messages } = upstream.asked[0] as Json;
  const shown = { type: "image_url", image_url: { url: IMAGE } };
  expect(messages[1]).toMatchObject({ role: "user", content: [shown] });
  const blind = await api.postTo("/v1/responses", account, { ...asked, model: "own-images" });
  const { error } = (await blind.json()) as Json;
  expect([blind.status, error.param]).toEqual([400, "input[1].result"]);
});

test("the list of models names those that give images", async () => {
  const { data } = (await (await api.get("/v1/models", await caller())).json()) as Json;
  const gives = data.map(({ id, svc }: Json) => [id, svc.gives]);
  expect(gives).toContainEqual(["own-images", ["image"]]);
  expect(gives).toContainEqual(["text", undefined]);
});

// Images, PDFs and marks of a cache at the door for Messages, and counts of tokens: the hold of a
// call before its server is asked, and the field that a refusal names.

import { beforeEach, describe, expect, test } from "bun:test";
import { pricesOf } from "../../../src/core/money/call-cost.ts";
import { price, usd } from "../../../src/core/money/money.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { errorOf } from "../../support/api/api-world.ts";
import { chatOver, modelOf, providerAt } from "../../support/api/chat-routes.ts";
import { pdfUrl, pngUrl } from "../../support/api/images.ts";
import { ownWhole } from "../../support/api/messages-world.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { startWireServer } from "../../support/fakes/wire/wire-server.ts";
import { shared } from "../../support/shared.ts";

const INPUT = price("1", 1_000_000);
const LONG_WRITE = price("2", 1_000_000);
const prices = pricesOf([
  { input: INPUT, output: INPUT, cachedInput: null, others: { cacheWrite1h: LONG_WRITE } },
]);
const IMAGE_TOKENS = 1_000;
const media = {
  kinds: ["image", "pdf"],
  imageBounds: [IMAGE_TOKENS],
  pdfTokensMax: 50_000,
  takesAddresses: false,
} as const;

const server = await shared(startWireServer());
const seeing = { ...modelOf(["own", "there"]), id: "seeing", prices, media };
const catalogue = catalogueOf(
  [seeing, { ...modelOf(["own", "there"]), id: "text", prices }],
  [
    providerAt(server.url, {
      name: "own",
      kind: "anthropic",
      media: { kinds: ["image", "pdf"], fetchesAddresses: false, hasKnownRules: false },
    }),
  ],
);
const api = await sharedApi({ catalogue: () => catalogue, chat: chatOver(catalogue) });
const account = await api.account({ contract: "enterprise", paid: "100" });

beforeEach(() => server.reset());

const base64Of = (url: string) => url.slice(url.indexOf(",") + 1);
const PNG = pngUrl(64, 64);
const PDF = pdfUrl(2_000);
const PDF_SOURCE = { type: "base64", media_type: "application/pdf", data: base64Of(PDF) };
const PNG_SOURCE = { type: "base64", media_type: "image/png", data: base64Of(PNG) };
const pdf = (more: object = {}) => ({ type: "document", source: PDF_SOURCE, ...more });
const image = (more: object = {}) => ({ type: "image", source: PNG_SOURCE, ...more });
const asking = (...content: readonly object[]) => ({
  model: "seeing",
  messages: [{ role: "user", content }],
});

/** The nano-USD that a call holds while its server is asked. */
async function heldBy(body: object): Promise<bigint> {
  let held: bigint | null = null;
  server.queue(async () => {
    held = (await api.view(account)).heldPaid;
    return ownWhole();
  });
  const response = await api.postTo("/v1/messages", account, { max_tokens: 10, ...body });
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  if (held === null) throw new Error("The server was not asked");
  return held;
}

async function refusalOf(body: object): Promise<string> {
  const response = await api.postTo("/v1/messages", account, { max_tokens: 10, ...body });
  expect(response.status).toBe(400);
  return (await errorOf(response)).message;
}

describe("the words beside a PDF", () => {
  test("are held for as text, the title as the context", async () => {
    const plain = await heldBy(asking(pdf()));
    const words = "t".repeat(500);
    for (const more of [{ title: words }, { context: words }]) {
      expect((await heldBy(asking(pdf(more)))) - plain).toBe(500n * 1_000n);
    }
    expect(JSON.stringify(server.requests.at(-1)?.body)).toContain(words);
  });

  test("end at 500 characters of a title", async () => {
    const message = await refusalOf(asking(pdf({ title: "t".repeat(501) })));
    expect(message).toContain("messages[0].content[0].title must");
  });
});

describe("a mark of the cache for an hour is held at its price", () => {
  type Mark = { readonly cache_control: object };
  const inResult = (block: object) => {
    const call = { type: "tool_use", id: "c1", name: "fare", input: {} };
    const result = { type: "tool_result", tool_use_id: "c1", content: [block] };
    return {
      model: "seeing",
      tools: [{ name: "fare", input_schema: { type: "object" } }],
      messages: [
        { role: "user", content: "Fare?" },
        { role: "assistant", content: [call] },
        { role: "user", content: [result] },
      ],
    };
  };
  const said = (mark: Mark) => ({ type: "text", text: "42", ...mark });
  const document = (mark: Mark) => ({
    type: "document",
    source: { type: "content", content: [said(mark)] },
  });
  const found = (mark: Mark) => ({
    type: "search_result",
    source: "https://fares.example",
    title: "Fares",
    content: [said(mark)],
  });
  const PLACES: Readonly<Record<string, (mark: Mark) => object>> = {
    "a block of a message": (mark) => asking(said(mark)),
    "text in the result of a tool": (mark) => inResult(said(mark)),
    "an image in the result of a tool": (mark) => inResult(image(mark)),
    "a PDF in the result of a tool": (mark) => inResult(pdf(mark)),
    "the content of a document": (mark) => asking(document(mark)),
    "the content of a search result": (mark) => asking(found(mark)),
    "the content of a document in the result of a tool": (mark) => inResult(document(mark)),
    "the content of a search result in the result of a tool": (mark) => inResult(found(mark)),
  };

  test.each(Object.entries(PLACES))("at %s", async (_, bodyWith) => {
    const marked = (ttl: string) => bodyWith({ cache_control: { type: "ephemeral", ttl } });
    const output = 10n * 1_000n;
    const short = (await heldBy(marked("5m"))) - output;
    const long = (await heldBy(marked("1h"))) - output;
    expect(long).toBe(2n * short);
  });
});

describe("a refusal names the field that is to change", () => {
  const KEPT = "refers to what only the provider keeps, and is not supported: send the data itself";
  const IMAGE_TYPES = "image/png, image/jpeg, image/gif, image/webp";
  const NO_PNG = "must be a PNG, JPEG, GIF or WebP image in base64, with a whole header";
  test.each<readonly [object, string]>([
    [
      image({ source: { ...PNG_SOURCE, media_type: null } }),
      `media_type must be one of: ${IMAGE_TYPES}`,
    ],
    [
      image({ source: { ...PNG_SOURCE, media_type: "image/png;base64,AAAA" } }),
      `media_type must be one of: ${IMAGE_TYPES}`,
    ],
    [image({ source: { ...PNG_SOURCE, data: "AAAA" } }), `data ${NO_PNG}`],
    [
      image({ source: { type: "url", url: PNG } }),
      "url must be an address such as https://…, not a data URL",
    ],
    [image({ source: { type: "url", url: "a.png" } }), "url must be an address such as https://…"],
    [
      image({ source: { type: "url", url: "https://example.com/a.png" } }),
      "url must not be an address: 'seeing' takes images in base64 only",
    ],
    [
      pdf({ source: { ...PDF_SOURCE, media_type: "text/plain" } }),
      "media_type must be one of: application/pdf",
    ],
    [
      pdf({ source: { ...PDF_SOURCE, data: base64Of(PNG) } }),
      "data must be a PDF in base64, from its first bytes on",
    ],
    [
      pdf({ source: { type: "url", url: "https://example.com/a.pdf" } }),
      "type must be 'base64', 'text' or 'content'",
    ],
    [image({ source: { type: "file", file_id: "file_1" } }), `file_id ${KEPT}`],
    [pdf({ source: { type: "file", file_id: "file_1" } }), `file_id ${KEPT}`],
  ])("%# %j", async (block, problem) => {
    const message = await refusalOf(asking(block));
    expect(message).toBe(`messages[0].content[0].source.${problem}`);
    expect((await api.view(account)).heldPaid).toBe(usd("0"));
  });

  const LONG = "a".repeat(1 << 20);
  const called = { type: "tool_use", id: "c1", name: LONG, input: {} };
  const reference = { type: "tool_reference", tool_name: LONG };
  const resultOf = (block: object) => ({
    type: "tool_result",
    tool_use_id: "c1",
    content: [block],
  });
  const KIND = "must be one of: text, image, document";
  const NAME = "must be a string of 1 to 128 characters";
  test.each<readonly [string, object, string]>([
    ["tools[0].name", { tools: [{ name: LONG, input_schema: {} }] }, NAME],
    ["tool_choice.name", { tool_choice: { type: "tool", name: LONG } }, NAME],
    ["messages[0].content[0].name", { messages: [{ role: "assistant", content: [called] }] }, NAME],
    ["messages[0].content[0].content[0].tool_name", asking(resultOf(reference)), NAME],
    ["messages[0].content[0].type", asking({ type: "unheard_of" }), KIND],
    ["messages[0].content[0].type", asking({ type: LONG }), KIND],
    ["messages[0].content[0].type", asking({ text: "Fare?" }), KIND],
    ["messages[0].content[0].content[0].type", asking(resultOf({ type: "unheard_of" })), KIND],
    ["messages[0].role", { messages: [{ role: "developer", content: "Fare?" }] }, "must be one of"],
  ])("%s %#, not repeating what was sent", async (field, body, rule) => {
    const before = server.requests.length;
    const message = await refusalOf({ ...asking({ type: "text", text: "Fare?" }), ...body });
    expect(message).toStartWith(`${field} ${rule}`);
    expect(message.length).toBeLessThan(500);
    expect(server.requests.length).toBe(before);
  });

  test("and the reason why a file for the provider's code is refused", async () => {
    const message = await refusalOf(asking({ type: "container_upload", file_id: "file_1" }));
    expect(message).toBe(
      "messages[0].content[0].type must not be 'container_upload': it refers to what only the " +
        "provider keeps, and is not supported",
    );
  });
});

describe("a count", () => {
  const input = (...content: readonly object[]) => ({
    model: "seeing",
    input: [{ role: "user", content }],
  });
  const COUNTS = {
    "/v1/messages/count_tokens": {
      none: asking({ type: "text", text: "Fare?" }),
      image: asking({ type: "text", text: "Fare?" }, image()),
      pdf: asking({ type: "text", text: "Fare?" }, pdf()),
      field: "messages[0].content[1].source.data",
    },
    "/v1/responses/input_tokens": {
      none: input({ type: "input_text", text: "Fare?" }),
      image: input(
        { type: "input_text", text: "Fare?" },
        { type: "input_image", image_url: PNG, detail: "auto" },
      ),
      pdf: input(
        { type: "input_text", text: "Fare?" },
        { type: "input_file", filename: "a.pdf", file_data: PDF },
      ),
      field: "input[0].content[1].image_url",
    },
  };
  const counted = async (path: string, body: object) => {
    const response = await api.postTo(path, account, body);
    expect(response.status).toBe(200);
    return ((await response.json()) as { input_tokens: number }).input_tokens;
  };

  test.each(Object.entries(COUNTS))("%s has images and PDFs", async (path, bodies) => {
    const text = await counted(path, bodies.none);
    expect((await counted(path, bodies.image)) - text).toBe(IMAGE_TOKENS);
    // A token for 20 bytes of the file.
    const bytes = (base64Of(PDF).length * 3) / 4;
    expect((await counted(path, bodies.pdf)) - text).toBe(Math.ceil(bytes / 20));
  });

  test.each(Object.entries(COUNTS))("%s refuses what a call would", async (path, bodies) => {
    const response = await api.postTo(path, account, { ...bodies.image, model: "text" });
    expect(response.status).toBe(400);
    const { message } = await errorOf(response);
    expect(message).toBe(`${bodies.field} must not be an image: 'text' takes text only`);
  });
});

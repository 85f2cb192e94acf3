// Calls with images and PDFs: requests to providers, holds and costs, and the inputs that are
// refused before anything is held.

import { beforeEach, describe, expect, test } from "bun:test";
import { pricesOf } from "../../../src/core/money/call-cost.ts";
import { price, usd } from "../../../src/core/money/money.ts";
import type { ModelMedia } from "../../../src/services/chat/media/model-media.ts";
import type { ModelEntry, ProviderMedia } from "../../../src/services/chat/models/catalogue.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { BodyThread } from "../../../src/start/body-threads.ts";
import { chatBody, errorOf } from "../../support/api/api-world.ts";
import { chatOver, modelOf, providerAt } from "../../support/api/chat-routes.ts";
import { pdfUrl, pngUrl } from "../../support/api/images.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { realClock } from "../../support/fakes/fake-clock.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { atEnd, sharedServer } from "../../support/shared.ts";
import { type AccountTerms, daysAgo, type TestAccount } from "../../support/stores/accounts.ts";

const PAYING: AccountTerms = { paid: "100", paidAt: daysAgo(10), contract: "enterprise" };
const MEBIBYTE = 1024 * 1024;

interface Asked {
  readonly path: string;
  readonly messages: readonly { readonly content: unknown }[];
  readonly held: bigint;
}

const upstream = {
  asked: [] as Asked[],
  usage: {} as object | undefined,
  status: 200,
  caller: null as TestAccount | null,
};
const server = sharedServer(async (request) => {
  const { messages, stream } = (await request.json()) as Asked & { readonly stream: boolean };
  const held = upstream.caller === null ? 0n : (await api.view(upstream.caller)).heldPaid;
  upstream.asked.push({ path: new URL(request.url).pathname, messages, held });
  if (upstream.status !== 200) return new Response("{}", { status: upstream.status });
  const { usage } = upstream;
  const said = { role: "assistant", content: "A potato." };
  const choice = { index: 0, finish_reason: "stop" };
  if (!stream) return Response.json({ choices: [{ ...choice, message: said }], usage });
  const frames = [{ choices: [{ ...choice, delta: said }] }, { choices: [], usage }];
  const text = frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join("");
  return new Response(`${text}data: [DONE]\n\n`, {
    headers: { "content-type": "text/event-stream" },
  });
});

const PRICES = pricesOf([
  {
    input: price("4", 1_000_000),
    output: price("8", 1_000_000),
    cachedInput: null,
    others: { imageIn: price("6", 1_000_000) },
  },
]);
const takes = (more: Partial<ModelMedia> = {}): ModelMedia => ({
  kinds: ["image", "pdf"],
  imageBounds: ["anthropic"],
  pdfTokensMax: 50_000,
  takesAddresses: false,
  ...more,
});
const at = (name: string) => `${String(server.url)}${name}`;
const media = (fetchesAddresses: boolean): ProviderMedia => ({
  kinds: ["image", "pdf"],
  fetchesAddresses,
  hasKnownRules: false,
});
const seeing = (
  id: string,
  routes: readonly string[],
  more: Partial<ModelMedia> = {},
): ModelEntry => ({
  ...modelOf(...routes.map((route) => [route, "x"] as const)),
  id,
  prices: PRICES,
  media: takes(more),
});
const catalogue = catalogueOf(
  [
    seeing("seeing", ["own"]),
    seeing("only-images", ["own"], { kinds: ["image"] }),
    seeing("fetching", ["own", "cloud"], { takesAddresses: true }),
    { ...modelOf(["own", "x"]), id: "text" },
  ],
  [
    providerAt(at("own"), { name: "own", media: media(false) }),
    providerAt(at("cloud"), { name: "cloud", media: media(true) }),
  ],
);
const thread = new BodyThread({ clock: realClock, log: silent });
atEnd(() => thread.close());
const api = await sharedApi({
  catalogue: () => catalogue,
  chat: chatOver(catalogue),
  parser: thread,
});

beforeEach(() => {
  upstream.asked.length = 0;
  upstream.usage = { prompt_tokens: 1_400, completion_tokens: 3, total_tokens: 1_403 };
  upstream.status = 200;
  upstream.caller = null;
});

const QUESTION = { type: "text", text: "What is this?" };
const image = (url: string, more: object = {}) => ({
  type: "image_url",
  image_url: { url, ...more },
});
const file = (file_data: string, more: object = {}) => ({
  type: "file",
  file: { file_data, ...more },
});
const asking = (content: unknown, more: object = {}) =>
  chatBody({ model: "seeing", max_tokens: 10, messages: [{ role: "user", content }], ...more });

/** The nano-USD that a call cost. */
async function spent(account: TestAccount): Promise<bigint> {
  return usd("100") - (await api.view(account)).paid;
}

for (const stream of [false, true]) {
  describe(stream ? "a stream" : "a whole reply", () => {
    test("has images and PDFs in order, and costs the count of the provider", async () => {
      const account = await api.account(PAYING);
      upstream.caller = account;
      const [png, pdf] = [pngUrl(1_000, 1_000, 5_000), pdfUrl(3_000)];
      const content = [QUESTION, image(png, { detail: "high" }), file(pdf, { filename: "a.pdf" })];
      const response = await api.post(account, asking(content, { stream }));
      expect(response.status).toBe(200);
      await response.text();
      const [asked] = upstream.asked;
      expect(asked?.messages[0]?.content).toEqual(content);
      const cost = 1_400n * 4_000n + 3n * 8_000n;
      expect(await spent(account)).toBe(cost);
      // Text by its bytes and the template, an image by its size, a PDF by the model's maximum.
      const text = BigInt(QUESTION.text.length + 2 * 16);
      expect(asked?.held).toBe((text + 1_334n + 50_000n) * 6_000n + 10n * 8_000n);
    });

    test("without a usage costs its text and the images by their rule", async () => {
      const account = await api.account(PAYING);
      upstream.usage = undefined;
      const content = [QUESTION, image(pngUrl(1_000, 1_000)), file(pdfUrl(19_998))];
      const response = await api.post(account, asking(content, { stream }));
      expect(response.status).toBe(200);
      await response.text();
      const text = 4n + 4n;
      const output = 3n;
      const cost = (text + 1_000n) * 4_000n + 1_334n * 6_000n + output * 8_000n;
      expect(await spent(account)).toBe(cost);
    });
  });
}

test("parts of text alone are one text, as they were", async () => {
  const account = await api.account(PAYING);
  const response = await api.post(account, asking([QUESTION, { type: "text", text: " Say." }]));
  expect(response.status).toBe(200);
  expect(upstream.asked[0]?.messages[0]?.content).toBe("What is this? Say.");
});

describe("refused by name, before anything is held", () => {
  const PNG = pngUrl(9, 9);
  const FILE_FIELD = "messages[0].content[0].file.file_data";
  const URL_FIELD = "messages[0].content[0].image_url.url";
  test.each([
    ["text", [image(PNG)], `${URL_FIELD} must not be an image: 'text' takes text only`],
    [
      "only-images",
      [file(pdfUrl())],
      `${FILE_FIELD} must not be a PDF: 'only-images' takes text and an image only`,
    ],
    [
      "seeing",
      [image("https://example.com/a.png")],
      `${URL_FIELD} must not be an address: 'seeing' takes images in base64 only`,
    ],
    [
      "fetching",
      [image("https://10.0.0.1/a.png")],
      `${URL_FIELD} must name a public host, and no IP address`,
    ],
    [
      "seeing",
      [image("data:image/svg+xml;base64,PHN2Zy8+")],
      `${URL_FIELD} must be a PNG, JPEG, GIF or WebP image in base64, with a whole header`,
    ],
    [
      "seeing",
      [image(PNG.slice(0, 40))],
      `${URL_FIELD} must be a PNG, JPEG, GIF or WebP image in base64, with a whole header`,
    ],
    [
      "seeing",
      [image(PNG, { detail: "huge" })],
      "messages[0].content[0].image_url.detail must be one of: auto, low, high, original",
    ],
    [
      "seeing",
      [{ type: "input_audio", input_audio: {} }],
      "messages[0].content[0].type must be one of: text, image_url, file",
    ],
    [
      "seeing",
      [file(PNG)],
      `${FILE_FIELD} must be a data URL of a PDF in base64: data:application/pdf;base64,…`,
    ],
    [
      "seeing",
      [file(pdfUrl(), { file_id: "file-1" })],
      "messages[0].content[0].file.file_id is not supported: send the file itself as file_data",
    ],
    [
      "seeing",
      Array(257).fill(image(PNG)),
      "messages[0].content[256].image_url.url is one more than 256 images and files of a request",
    ],
  ])("%s %#", async (model, content, message) => {
    const account = await api.account(PAYING);
    const response = await api.post(account, asking(content, { model }));
    const error = await errorOf(response);
    expect([response.status, error.message]).toEqual([400, message]);
    expect(response.headers.get("x-svc-cost-usd")).toBe("0");
    expect(upstream.asked).toEqual([]);
    expect(await spent(account)).toBe(0n);
  });

  test("an image in a message of another role", async () => {
    const account = await api.account(PAYING);
    const messages = [{ role: "system", content: [image(PNG)] }];
    const response = await api.post(account, asking("", { messages }));
    const { message } = await errorOf(response);
    expect(message).toBe(
      "messages[0].content[0].type must be 'text': images and files are parts of user messages, " +
        "audio is not supported",
    );
  });
});

test("an address goes only to a route whose provider fetches it, and holds the most", async () => {
  const account = await api.account(PAYING);
  upstream.caller = account;
  const content = [image("https://example.com/a.png")];
  const response = await api.post(account, asking(content, { model: "fetching" }));
  expect(response.status).toBe(200);
  expect(upstream.asked.map(({ path }) => path)).toEqual(["/cloud/chat/completions"]);
  expect(upstream.asked[0]?.messages[0]?.content).toEqual(content);
  expect(upstream.asked[0]?.held).toBe((2n * 16n + 1_600n) * 6_000n + 10n * 8_000n);
  const plain = await api.post(account, asking([image(pngUrl(9, 9))], { model: "fetching" }));
  expect(plain.status).toBe(200);
  expect(upstream.asked.at(-1)?.path).toBe("/own/chat/completions");
});

test("100 images of 8192 x 8192 hold the most that each can be, up to the context", async () => {
  const account = await api.account(PAYING);
  upstream.caller = account;
  const content = Array(100).fill(image(pngUrl(8_192, 8_192)));
  const response = await api.post(account, asking(content));
  expect(response.status).toBe(200);
  const { held = 0n } = upstream.asked[0] ?? {};
  // 100 images of 1,600 tokens are more than the context of 100,000.
  expect(held).toBe((2n * 16n + 100_000n) * 6_000n + 10n * 8_000n);
  expect(await spent(account)).toBeLessThanOrEqual(held);
});

test("a balance that is too small for the images is refused with a number that fits", async () => {
  const account = await api.account({ ...PAYING, paid: "0.005" });
  const response = await api.post(account, asking([image(pngUrl(1_000, 1_000))]));
  expect(response.status).toBe(402);
  expect((await errorOf(response)).code).toBe("insufficient_credits");
  const enough = await api.account({ ...PAYING, paid: "0.0084" });
  const served = await api.post(enough, asking([image(pngUrl(1_000, 1_000))]));
  expect(served.status).toBe(200);
});

describe("a large body", () => {
  const large = (bytes: number) => image(pngUrl(1_000, 1_000, Math.floor((bytes * 3) / 4)));

  for (const stream of [false, true]) {
    test(`of 30 MB with an image is served, stream: ${stream}`, async () => {
      const account = await api.account(PAYING);
      const body = asking([QUESTION, large(30 * MEBIBYTE)], { stream });
      const response = await api.post(account, body);
      expect(response.status).toBe(200);
      await response.text();
      const [{ messages = [] } = {}] = upstream.asked;
      expect(Bun.hash(JSON.stringify(messages))).toBe(
        Bun.hash(JSON.stringify((body as Asked).messages)),
      );
      expect(await spent(account)).toBe(1_400n * 4_000n + 3n * 8_000n);
    });
  }

  test("has at most 32 MB, and at most 4 MB of text", async () => {
    const account = await api.account(PAYING);
    const tooLarge = await api.post(account, asking([large(33 * MEBIBYTE)]));
    expect([tooLarge.status, (await errorOf(tooLarge)).message]).toEqual([
      413,
      "The body must not be larger than 33554432 bytes",
    ]);
    const text = "x".repeat(4 * MEBIBYTE);
    const withImage = await api.post(account, asking([{ type: "text", text }, large(MEBIBYTE)]));
    expect([withImage.status, (await errorOf(withImage)).message]).toEqual([
      413,
      "The body besides its images and files must not be larger than 4194304 bytes",
    ]);
    const textOnly = await api.post(account, asking(text));
    expect([textOnly.status, (await errorOf(textOnly)).message]).toEqual([
      413,
      "The body must not be larger than 4194304 bytes",
    ]);
    expect(upstream.asked).toEqual([]);
  });
});

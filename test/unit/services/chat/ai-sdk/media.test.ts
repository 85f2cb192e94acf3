// Images and PDFs in the requests of every protocol that is a package: the bytes as the caller sent
// them, in the form of the provider.

import { beforeEach, describe, expect, test } from "bun:test";
import { base64Of, type ContentPart } from "../../../../../src/services/chat/media/media-part.ts";
import { readImage, readPdf } from "../../../../../src/services/chat/media/read-media.ts";
import { PROVIDER_MEDIA } from "../../../../../src/services/chat/models/provider-media.ts";
import { REQUEST } from "../../../../support/api/chat-routes.ts";
import { pdfUrl, pngUrl } from "../../../../support/api/images.ts";
import {
  protocols,
  type SdkKind,
  sdkCall,
  sharedServiceAccount,
  WIRE_FORMS,
} from "../../../../support/fakes/wire/wire-forms.ts";
import { startWireServer } from "../../../../support/fakes/wire/wire-server.ts";
import { shared } from "../../../../support/shared.ts";

const server = await shared(startWireServer());
const cloud = { region: "eu-west-1", serviceAccount: sharedServiceAccount() };
const KINDS = Object.keys(WIRE_FORMS) as SdkKind[];
const USAGE = { uncached: 1_500, cacheRead: 0, cacheWrite: 0, output: 9, reasoning: 0 };
const ANSWER = { text: ["A potato."], end: "stop", usage: USAGE } as const;

beforeEach(() => server.reset());

const TEXT: ContentPart = { type: "text", text: "What is this?" };
const IMAGE = readImage({ url: pngUrl(64, 32, 300), param: "p" });
const ADDRESS = readImage({ url: "https://example.com/a.png", param: "p", detail: "low" });
const PDF = readPdf({ url: pdfUrl(300), param: "p", fileName: "fares.pdf" });

async function sent(kind: SdkKind, ...parts: readonly ContentPart[]) {
  server.queue(WIRE_FORMS[kind].whole(ANSWER));
  const media = parts.filter((part) => part.type === "media");
  const request = { ...REQUEST, messages: [{ role: "user", content: parts } as const], media };
  const reply = await protocols[kind].complete(sdkCall(kind, server.url, { request }, { cloud }));
  return { reply, body: JSON.stringify(server.requests.at(-1)?.body ?? {}) };
}

type Forms = Readonly<Record<SdkKind, object | null>>;
const image = base64Of(IMAGE);
const claudeImage = {
  type: "image",
  source: { type: "base64", media_type: "image/png", data: image },
};
const geminiImage = { inlineData: { mimeType: "image/png", data: image } };
const IMAGES: Forms = {
  anthropic: claudeImage,
  google: geminiImage,
  "google-vertex": geminiImage,
  "amazon-bedrock": { image: { format: "png", source: { bytes: image } } },
  cohere: { type: "image_url", image_url: { url: IMAGE.url } },
  "openai-responses": { type: "input_image", image_url: IMAGE.url },
};
const pdf = base64Of(PDF);
const geminiPdf = { inlineData: { mimeType: "application/pdf", data: pdf } };
const PDFS: Forms = {
  anthropic: {
    type: "document",
    source: { type: "base64", media_type: "application/pdf", data: pdf },
    title: "fares.pdf",
  },
  google: geminiPdf,
  "google-vertex": geminiPdf,
  "amazon-bedrock": { document: { format: "pdf", name: "fares", source: { bytes: pdf } } },
  cohere: null,
  "openai-responses": { type: "input_file", filename: "fares.pdf", file_data: PDF.url },
};
const ADDRESSES: Forms = {
  anthropic: { type: "image", source: { type: "url", url: ADDRESS.url } },
  google: null,
  "google-vertex": null,
  "amazon-bedrock": null,
  cohere: { type: "image_url", image_url: { url: ADDRESS.url } },
  "openai-responses": { type: "input_image", image_url: ADDRESS.url, detail: "low" },
};

describe.each(KINDS)("%s", (kind) => {
  test("sends an image after the text", async () => {
    const { reply, body } = await sent(kind, TEXT, IMAGE);
    expect(body).toContain(JSON.stringify(IMAGES[kind]));
    expect(body.indexOf("What is this?")).toBeLessThan(body.indexOf(image));
    expect(reply.usage?.promptTokens).toBe(1_500);
    expect(reply.ignored ?? []).toEqual([]);
  });

  test("takes the media in its row of the table", () => {
    const { kinds, fetchesAddresses } = PROVIDER_MEDIA[kind];
    expect(kinds.includes("image")).toBe(IMAGES[kind] !== null);
    expect(kinds.includes("pdf")).toBe(PDFS[kind] !== null);
    expect(fetchesAddresses).toBe(ADDRESSES[kind] !== null);
  });
});

test.each(KINDS.filter((kind) => PDFS[kind] !== null))("%s sends a PDF", async (kind) => {
  const { body } = await sent(kind, TEXT, PDF);
  expect(body).toContain(JSON.stringify(PDFS[kind]));
});

test.each(KINDS.filter((kind) => ADDRESSES[kind] !== null))(
  "%s sends an address that its provider fetches, once, and fetches nothing itself",
  async (kind) => {
    const before = server.requests.length;
    const { reply, body } = await sent(kind, TEXT, ADDRESS);
    expect(body).toContain(JSON.stringify(ADDRESSES[kind]));
    expect(server.requests.length).toBe(before + 1);
    const ignored = kind === "openai-responses" ? [] : ["messages[].content[].image_url.detail"];
    expect([...(reply.ignored ?? [])]).toEqual(ignored);
  },
);

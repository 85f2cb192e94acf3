// The built-in model. The guide is not a language model: it finds the passages of Farebox's
// documentation that match the last question best, and quotes them.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Brand, inBrand, type ReadBrand } from "../../../../core/brand/brand.ts";
import { type CancelSignal, throwIfCancelled } from "../../../../core/cancellation.ts";
import { ApiError } from "../../../../core/errors.ts";
import type { TokenUsage } from "../../../../core/money/usage.ts";
import { isFullText } from "../../../../core/text/json.ts";
import type { GuideDocument, Passage } from "../../../../core/text/markdown-passages.ts";
import { contentText } from "../../media/media-part.ts";
import { GUIDE_CONTEXT_TOKENS } from "../../models/catalogue.ts";
import { CHAT_FIELDS } from "../../refused-fields.ts";
import type { TokenCounter } from "../../tokens/token-counter.ts";
import { firstTokens, promptTokensMax } from "../../tokens/tokens.ts";
import type { ChatBatch, ChatReply, ChatRequest } from "../provider.ts";
import { GuideIndex, type Hit, wordsOf } from "./guide-index.ts";

export type { GuideDocument } from "../../../../core/text/markdown-passages.ts";

interface GuideOptions {
  /** The caller's account. */
  readonly account: string;
  /** Aborted when the caller is gone. */
  readonly signal: CancelSignal;
}

/** Like a ChatProvider, for the only model without an upstream. */
export interface Guide {
  complete(request: ChatRequest, options: GuideOptions): Promise<ChatReply>;
  stream(request: ChatRequest, options: GuideOptions): AsyncIterable<ChatBatch>;
}

const QUOTES_MAX = 3;
/** A passage must cover at least this part of the question. */
const COVERAGE_MIN = 0.34;
/** Further passages must have at least this part of the best score. */
const CLOSENESS_MIN = 0.6;
const QUOTE_LENGTH_MAX = 900;
/** The characters of a long message that are read as the question, from its end or its start. */
const QUESTION_LENGTH = 400;
const WORDS_PER_BATCH = 4;
/** A longer prompt is refused without counting: usual text has four bytes per token. */
const PROMPT_BYTES_MAX = 16 * GUIDE_CONTEXT_TOKENS;

const WHAT_IT_IS = "I am no language model: I quote Farebox's documentation.";
const HELP =
  `${WHAT_IT_IS} Ask how calls are paid for, about keys, limits, errors, settings, models or how ` +
  "Farebox is built, in a few plain words.";

export interface GuideDeps {
  /** The documents to quote. The first one should introduce Farebox. */
  readonly documents: readonly GuideDocument[];
  /** Quotes call the service by its name. */
  readonly brand: ReadBrand;
  readonly tokens: TokenCounter;
}

/** A guide to these documents. */
export function createGuide({ documents, brand, tokens }: GuideDeps): Guide {
  const index = new GuideIndex(documents);

  async function complete(request: ChatRequest, options: GuideOptions): Promise<ChatReply> {
    const { text, finishReason, usage } = await reply(
      { index, brand: brand(), tokens },
      request,
      options,
    );
    const message = { role: "assistant", content: text } as const;
    return { choices: [{ index: 0, message, finish_reason: finishReason }], usage };
  }

  async function* stream(
    request: ChatRequest,
    options: GuideOptions,
  ): AsyncGenerator<ChatBatch, void, undefined> {
    const { signal } = options;
    const { text, finishReason, usage } = await reply(
      { index, brand: brand(), tokens },
      request,
      options,
    );
    const [first = "", ...rest] = inFewWords(text);
    yield batch({ role: "assistant", content: first });
    for (const content of rest) {
      await otherWork();
      throwIfCancelled(signal);
      yield batch({ content });
    }
    yield { deltas: [{ index: 0, delta: {}, finish_reason: finishReason }], usage };
  }

  return { complete, stream };
}

/** Loads the documentation of a project, in a fixed order. Missing files are skipped. */
export async function loadGuideDocuments(projectFolder: string): Promise<GuideDocument[]> {
  const docs = await readdir(join(projectFolder, "docs")).catch(() => []);
  const pages = docs.filter((name) => name.endsWith(".md")).sort();
  const names = ["README.md", ...pages.map((name) => `docs/${name}`), "CONTRIBUTING.md"];
  const documents = await Promise.all(
    names.map(async (name) => ({
      name,
      text: await readFile(join(projectFolder, name), "utf8").catch(() => ""),
    })),
  );
  return documents.filter(({ text }) => text !== "");
}

interface Reply {
  readonly text: string;
  readonly finishReason: "stop" | "length";
  readonly usage: TokenUsage;
}

interface ReplyParts {
  readonly index: GuideIndex;
  readonly brand: Brand;
  readonly tokens: TokenCounter;
}

async function reply(
  { index, brand, tokens }: ReplyParts,
  request: ChatRequest,
  { account, signal }: GuideOptions,
): Promise<Reply> {
  throwIfCancelled(signal);
  // The guide ignores tools, so they do not count as prompt.
  const prompt = { ...request, parameters: {} };
  const isShort = promptTokensMax(prompt) <= PROMPT_BYTES_MAX;
  const promptTokens = isShort ? await tokens.countPrompt(account, prompt) : null;
  throwIfCancelled(signal);
  if (promptTokens === null || promptTokens > GUIDE_CONTEXT_TOKENS) {
    const { prompt: param } = request.fields ?? CHAT_FIELDS;
    const problem = `${param} must have at most ${GUIDE_CONTEXT_TOKENS} tokens for this model`;
    throw new ApiError("invalid_parameter", problem, { param });
  }
  const asked = request.messages.findLast(({ role }) => role === "user");
  const question = contentText(asked?.content ?? null);
  const whole = beforeStop(inBrand(answer(index, question, brand), brand), request.parameters.stop);
  const count = (text: string) => tokens.countTexts(account, [text]);
  const start = await firstTokens(whole, request.maxTokens, count);
  return {
    text: start.text,
    finishReason: start.cut ? "length" : "stop",
    usage: { promptTokens, cachedTokens: 0, completionTokens: start.tokens },
  };
}

function answer(index: GuideIndex, message: string, { name }: Brand): string {
  for (const question of questionsOf(message)) {
    const hits = fitting(index.search(question));
    if (hits.length > 0) return quoted(hits.map(({ passage }) => passage));
  }
  const end = message.slice(-QUESTION_LENGTH);
  if (wordsOf(end).length > 0) return `I found nothing about that. ${HELP}`;
  // "What is Farebox?" has no words to search for; the opening of the documents answers it.
  const opening = index.opening();
  const isNamed = /farebox/i.test(end) || end.toLowerCase().includes(name.toLowerCase());
  return opening !== undefined && isNamed ? quoted([opening]) : HELP;
}

// The question of a long message is at its end, or at its start before pasted text.
function questionsOf(message: string): string[] {
  if (message.length <= QUESTION_LENGTH) return [message];
  return [message.slice(-QUESTION_LENGTH), message.slice(0, QUESTION_LENGTH)];
}

function fitting(hits: readonly Hit[]): readonly Hit[] {
  const best = hits.find(({ coverage }) => coverage >= COVERAGE_MIN);
  if (best === undefined) return [];
  return hits
    .filter(({ coverage }) => coverage >= COVERAGE_MIN)
    .filter(({ score }) => score >= best.score * CLOSENESS_MIN)
    .slice(0, QUOTES_MAX);
}

/** Quotes the passages, grouped by section, the best section first. */
function quoted(passages: readonly Passage[]): string {
  const sections = Map.groupBy(passages, ({ document, headings }) =>
    [document, ...headings].join("\n"),
  );
  const parts = [...sections.values()].map((section) => {
    const [first] = section;
    const heading = first?.headings.at(-1);
    const where = heading === undefined ? first?.document : `${first?.document}, "${heading}"`;
    return `From ${where}:\n\n${wholeTables(section).map(quote).join("\n>\n")}`;
  });
  return `${parts.join("\n\n")}\n\n${WHAT_IT_IS}`;
}

/** Joins rows of the same table. */
function wholeTables(section: readonly Passage[]): Passage[] {
  const merged: Passage[] = [];
  for (const passage of section) {
    const at = merged.findIndex(({ lead }) => lead !== "" && lead === passage.lead);
    const table = merged[at];
    if (table === undefined) merged.push(passage);
    else merged[at] = { ...table, text: `${table.text}\n${passage.text}` };
  }
  return merged;
}

function quote({ lead, text }: Passage): string {
  const short = shortened(text, QUOTE_LENGTH_MAX);
  const whole = lead === "" ? short : `${lead}\n${short}`;
  return whole
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n");
}

/** Shortens a text after a line if it has several, otherwise after a sentence or a word. */
function shortened(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  const start = text.slice(0, lengthMax);
  const lineEnd = start.lastIndexOf("\n");
  if (lineEnd > 0) {
    const lines = start.slice(0, lineEnd);
    // Close an open code fence.
    const isOpen = (lines.match(/^\s*(?:```|~~~)/gm)?.length ?? 0) % 2 === 1;
    return isOpen ? `${lines}\n…\n\`\`\`` : `${lines}\n…`;
  }
  const sentenceEnd = start.lastIndexOf(". ") + 1;
  if (sentenceEnd > lengthMax / 2) return `${start.slice(0, sentenceEnd)} …`;
  return `${start.slice(0, start.lastIndexOf(" "))} …`;
}

function beforeStop(text: string, stop: unknown): string {
  const marks = (Array.isArray(stop) ? stop : [stop]).filter(isFullText);
  const ends = marks.map((mark) => text.indexOf(mark)).filter((at) => at >= 0);
  return text.slice(0, Math.min(text.length, ...ends));
}

/** Splits the text into pieces of a few words. */
function inFewWords(text: string): string[] {
  const words = text.match(/\s*\S+\s*/g) ?? [];
  const pieces: string[] = [];
  for (let at = 0; at < words.length; at += WORDS_PER_BATCH) {
    pieces.push(words.slice(at, at + WORDS_PER_BATCH).join(""));
  }
  return pieces;
}

function batch(delta: Readonly<Record<string, unknown>>): ChatBatch {
  return { deltas: [{ index: 0, delta, finish_reason: null }], usage: null };
}

function otherWork(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

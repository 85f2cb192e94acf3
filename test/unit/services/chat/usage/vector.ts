// Holds a reply to the bill that its vector names: the reader, the row, the cost and the hold.

import { expect } from "bun:test";
import {
  costOfPieces,
  exactCost,
  type Prices,
  pricesOf,
  upperBound,
} from "../../../../../src/core/money/call-cost.ts";
import { reportedUsd, ZERO } from "../../../../../src/core/money/money.ts";
import { type PriceRow, rowsFor } from "../../../../../src/core/money/price-rows.ts";
import { sumOfUsages, usageOf } from "../../../../../src/core/money/usage.ts";
import { anthropicMessages } from "../../../../../src/services/chat/usage/anthropic-messages.ts";
import { bedrockConverse } from "../../../../../src/services/chat/usage/bedrock-converse.ts";
import { cohere } from "../../../../../src/services/chat/usage/cohere.ts";
import { embeddings } from "../../../../../src/services/chat/usage/embeddings.ts";
import { geminiGenerate } from "../../../../../src/services/chat/usage/gemini-generate.ts";
import { images } from "../../../../../src/services/chat/usage/images.ts";
import { openAiChat } from "../../../../../src/services/chat/usage/openai-chat.ts";
import { openAiResponses } from "../../../../../src/services/chat/usage/openai-responses.ts";
import type {
  ReplyPiece,
  ReplyUsage,
  SentCall,
  UsageForm,
} from "../../../../../src/services/chat/usage/reply-usage.ts";
import { rerank } from "../../../../../src/services/chat/usage/rerank.ts";
import { transcription } from "../../../../../src/services/chat/usage/transcription.ts";
import { eventsOf } from "./vector-events.ts";
import type { Json, Vector, VectorUsage } from "./vector-form.ts";
import {
  baseRows,
  callsOf,
  counts,
  inVectorNames,
  NAMES,
  nanoDecimal,
  pricesOfVector,
  scaledNano,
  writesOf,
} from "./vector-prices.ts";

/** Reads the events of a reply. */
export type Reader = (events: readonly Json[], sent: SentCall) => ReplyUsage | null;

/** A reader by a form. */
export function readerOf<Last>(form: UsageForm<Last>): Reader {
  return (events, sent) => form.read(events.reduce(form.fold, form.none), sent);
}

/** The reader of each shape of replies. */
export const READERS: Readonly<Record<string, Reader>> = {
  "openai-chat": readerOf(openAiChat),
  "openai-responses": readerOf(openAiResponses),
  "anthropic-messages": readerOf(anthropicMessages),
  "gemini-generate": readerOf(geminiGenerate),
  "bedrock-converse": readerOf(bedrockConverse),
  "cohere-chat": readerOf(cohere),
  "cohere-embed": readerOf(cohere),
  "cohere-rerank": readerOf(cohere),
  embeddings: readerOf(embeddings),
  rerank: readerOf(rerank),
  images: readerOf(images),
  transcription: readerOf(transcription),
};
/** The form of a provider whose reply is an error. */
const ERRORS: Readonly<Record<string, string>> = {
  "anthropic-messages": "anthropic-messages",
  gemini: "gemini-generate",
};

/** The bill that a vector's reply and prices give. Each field has the form of `expected`. */
export interface Bill {
  readonly usage: Readonly<Record<string, number>>;
  readonly calls: Readonly<Record<string, number>>;
  readonly pieces: readonly {
    readonly usage: Readonly<Record<string, number>>;
    readonly billed: boolean;
    readonly row: number;
    readonly model: string | null;
  }[];
  readonly cost: string;
  readonly hold: bigint;
}

/** Reads the reply of a vector. A count without use has no reader: it is not billed. */
function readVector(vector: Vector, other?: Reader): ReplyUsage | null {
  const { shape, api } = vector;
  const reader = other ?? READERS[shape === "error" ? (ERRORS[api] ?? "openai-chat") : shape];
  if (reader === undefined) throw new Error(`No reader of '${shape}'`);
  return reader(eventsOf(vector), { tier: "standard", writes: writesOf(vector) });
}

/** Compares the reply of a vector with its expectation, read by another reader if one is given. */
export function checkVector(vector: Vector, reader?: Reader): void {
  const { expected, shape } = vector;
  if (shape === "count-tokens") {
    expect(Number(expected.cost)).toBe(0);
    return;
  }
  const read = readVector(vector, reader);
  if (expected.usage === null) {
    expect(read).toBeNull();
    return;
  }
  if (read === null) throw new Error(`${vector.id} has a usage that was not read`);
  expect(read.isContradictory).toBe(vector.rules.includes("totals-contradict"));
  // Where the reply contradicts itself our own count decides, which the vector names.
  const billed = read.isContradictory ? ownCount(read, expected.usage) : read;
  const last = billed.pieces.at(-1)?.served;
  expect([last?.tier, last?.speed, last?.geography]).toEqual([
    expected.tier as never,
    expected.speed as never,
    expected.geo ?? null,
  ]);
  expect(billed.reasoningTokens).toBe(expected.usage.reasoning ?? 0);
  expect(billed.reportedCost).toBe(
    expected.reported_cost === null ? null : reportedUsd(Number(expected.reported_cost)),
  );
  const bill = billOf(vector, billed);
  expect(bill.usage).toEqual(counts(expected.usage));
  expect(bill.calls).toEqual(expected.usage.calls ?? {});
  checkPieces(vector, bill);
  if (expected.cost === null) return;
  expect(bill.cost).toBe(expected.cost);
  // No hold covers a tier that nothing asks for; a charge is at most the hold.
  if (last?.tier !== "unknown") expect(bill.hold >= scaledNano(expected.cost)).toBe(true);
}

function checkPieces({ expected }: Vector, { pieces }: Bill): void {
  const { attempts, row } = expected;
  if (attempts === undefined) {
    expect(pieces.map((piece) => piece.row)).toEqual([row ?? 0]);
    expect(pieces.map((piece) => piece.billed)).toEqual([expected.billed ?? true]);
    return;
  }
  expect(pieces).toEqual(
    attempts.map((attempt) => ({
      usage: counts(attempt.usage),
      billed: attempt.billed,
      row: attempt.row,
      model: attempt.served_model,
    })),
  );
}

function ownCount(read: ReplyUsage, usage: VectorUsage): ReplyUsage {
  const [piece] = read.pieces;
  if (piece === undefined) throw new Error("A reply without a piece");
  const parts = Object.entries(NAMES).map(([part, name]) => [part, usage[name] ?? 0]);
  return { ...read, pieces: [{ ...piece, usage: usageOf(Object.fromEntries(parts)) }] };
}

function billOf(vector: Vector, { pieces, fees }: ReplyUsage): Bill {
  const prices = pricesOfVector(vector);
  const atMs = Date.parse(vector.admitted_at ?? "2026-11-02T12:00:00Z");
  // Our own count of a prompt that the provider counts once for each round of its tools.
  const priced = pieces.map((piece) => (piece.isSummed ? { ...piece, promptSent: 1_000 } : piece));
  const billed = priced.filter((piece) => piece.isBilled);
  const cost = billed.length === 0 ? ZERO : costOfPieces(prices, billed, { atMs, fees });
  const usages = (billed.length > 0 ? billed : priced).map(({ usage }) => usage);
  return {
    usage: inVectorNames(sumOfUsages(usages)),
    calls: callsOf(vector, fees),
    pieces: priced.map((piece) => pieceIn(vector, prices, piece, atMs)),
    cost: nanoDecimal(cost),
    hold: holdOf(vector, prices, { pieces: priced, fees }),
  };
}

function pieceIn(vector: Vector, prices: Prices, piece: ReplyPiece, atMs: number) {
  const { promptTokens } = piece.usage;
  const facts = { promptTokens: piece.promptSent ?? promptTokens, served: piece.served, atMs };
  const costBy = ({ when: _, ...row }: PriceRow) => exactCost(pricesOf([row]), piece.usage);
  const [applied] = rowsFor(prices.rows, facts).sort((one, other) =>
    costBy(one) < costBy(other) ? 1 : -1,
  );
  const row =
    vector.prices?.rows === undefined || applied === undefined ? 0 : prices.rows.indexOf(applied);
  return {
    usage: inVectorNames(piece.usage),
    billed: piece.isBilled,
    // The row that is put before rows with conditions does not count.
    row: row - baseRows(vector),
    model: piece.served.model,
  };
}

function holdOf(
  { expected }: Vector,
  prices: Prices,
  { pieces, fees }: Pick<ReplyUsage, "pieces" | "fees">,
): bigint {
  const { promptTokens, completionTokens } = sumOfUsages(pieces.map(({ usage }) => usage));
  const reach = {
    tier: expected.tier as "standard",
    speed: expected.speed as "standard",
    hasMedia: true,
    hasLongWrites: true,
    fees,
  };
  return upperBound(prices, { promptTokens, outputTokens: completionTokens }, reach);
}

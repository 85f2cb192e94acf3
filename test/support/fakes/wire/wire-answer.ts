// An answer of a model, apart from the form in which a provider sends it. The files beside this one
// write it as each provider does, whole and as a stream.

import type { WireReply } from "./wire-server.ts";

export interface WireAnswer {
  readonly thought?: { readonly text: string; readonly seal: string };
  /** In the pieces of a stream. */
  readonly text?: readonly string[];
  readonly calls?: readonly WireCall[];
  readonly end: "stop" | "length" | "filter";
  readonly usage: WireUsage;
  /** The tier and the model that served, by the provider's words; left out: the usual ones. */
  readonly tier?: string;
  readonly model?: string;
}

export interface WireCall {
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Disjoint parts of the input; `reasoning` is a part of `output`. */
export interface WireUsage {
  readonly uncached: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
}

/** The form in which a provider writes an answer. */
export interface WireForm {
  /** The parts of the usage that this provider never names. */
  readonly unnamed: readonly (keyof WireUsage)[];
  /** False if this provider has no word for a reply that its content filter ended. */
  readonly hasFilter?: false;
  whole(answer: WireAnswer): WireReply;
  /** Each piece of the body is one event. */
  stream(answer: WireAnswer): WireReply;
  /** The numbers of events of a stream of text, up to its first piece and up to its end. */
  textEvents(body: readonly (string | Uint8Array)[]): number;
  endEvent(body: readonly (string | Uint8Array)[]): number;
  /** A failure in the middle of a stream. */
  failure(): string | Uint8Array;
  /** A refusal in this provider's form. */
  refusal(status: number, message: string): WireReply;
}

export const SSE = { "content-type": "text/event-stream" };

/** A server-sent event. */
export function sse(data: unknown, name?: string): string {
  const event = name === undefined ? "" : `event: ${name}\n`;
  return `${event}data: ${JSON.stringify(data)}\n\n`;
}

/** A server-sent event whose data repeat its name as `type`. */
export function typedEvent(type: string, more: object = {}): string {
  return sse({ type, ...more }, type);
}

/** The number of events up to the first that has this text, that one included. */
export function eventsUpTo(body: readonly (string | Uint8Array)[], text: string): number {
  return body.findIndex((event) => Buffer.from(event).includes(text)) + 1;
}

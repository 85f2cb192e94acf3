// Calls of the API from the playground. The server makes them with a key that the page never sees.

import { post, postRaw, RequestError } from "./client.ts";
import { ofAccount } from "./queries.ts";

/** A call as any program would make it. */
export interface ApiCall {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface CallEstimate {
  readonly hold_usd: string;
  readonly spendable_usd: string;
}

/** What such a call would hold. */
export async function estimate(account: string, call: ApiCall): Promise<CallEstimate> {
  return await post<CallEstimate>(ofAccount(account, "playground/estimate"), call);
}

/** What a call gave, with its exact cost. */
export interface ApiAnswer<T> {
  readonly body: T;
  readonly costUsd: string;
  readonly requestId: string | null;
}

export async function callApi<T>(account: string, call: ApiCall): Promise<ApiAnswer<T>> {
  const response = await postRaw(ofAccount(account, "playground"), call);
  return {
    body: (await response.json()) as T,
    costUsd: response.headers.get("x-svc-cost-usd") ?? "0",
    requestId: response.headers.get("x-request-id"),
  };
}

interface Chunk {
  readonly choices?: readonly { readonly delta?: { readonly content?: string } }[];
  readonly svc?: { readonly cost_usd?: number };
  readonly error?: { readonly code: string; readonly message: string };
}

export interface StreamEnd {
  readonly requestId: string | null;
  /** Null if the stream was cut before it said its cost. */
  readonly costUsd: string | null;
}

const NANO_DIGITS = 9;

/** Streams a chat: `onText` is given each piece. */
export async function streamChat(
  account: string,
  call: ApiCall,
  onText: (piece: string) => void,
  signal: AbortSignal,
): Promise<StreamEnd> {
  const response = await postRaw(ofAccount(account, "playground"), call, signal);
  const requestId = response.headers.get("x-request-id");
  let costUsd: string | null = null;
  if (response.body === null) return { requestId, costUsd };
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const events = `${rest}${part.value}`.split("\n\n");
    rest = events.pop() ?? "";
    for (const chunk of events.map(chunkOf)) {
      if (chunk === null) continue;
      const { choices, svc, error } = chunk;
      if (error !== undefined)
        throw new RequestError(error.message, 0, error.code, requestId, null);
      const text = choices?.[0]?.delta?.content ?? "";
      if (text !== "") onText(text);
      // A number of JSON may be written as 1e-7; nine decimals hold every amount of a call.
      if (svc?.cost_usd !== undefined) costUsd = svc.cost_usd.toFixed(NANO_DIGITS);
    }
  }
  return { requestId, costUsd };
}

function chunkOf(event: string): Chunk | null {
  const data = /^data: (.*)$/m.exec(event)?.[1];
  return data === undefined || data === "[DONE]" ? null : (JSON.parse(data) as Chunk);
}

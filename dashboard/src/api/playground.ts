// Calls of the API from the playground. The server makes them with a key that the page never sees.

import { t } from "../texts.ts";
import { post, postRaw, RequestError } from "./client.ts";
import { ofAccount } from "./queries.ts";

/** A call as any program would make it. */
export interface ApiCall {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** The most that the call may cost; left out for no cap. */
  readonly max_cost_usd?: string;
}

/** Adds the cap that was typed to a call; null if the call or the cap is not complete. */
export type Capped = (call: ApiCall | null) => ApiCall | null;

export interface CallEstimate {
  readonly hold_usd: string;
  readonly spendable_usd: string;
}

/** The amount that such a call would hold. */
export async function estimate(account: string, call: ApiCall): Promise<CallEstimate> {
  return await post<CallEstimate>(ofAccount(account, "playground/estimate"), call);
}

/** The reply of a call, with its exact cost. */
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
  readonly svc?: { readonly cost_usd?: number; readonly stopped_by?: string };
  readonly error?: { readonly code: string; readonly message: string };
}

export interface StreamEnd {
  readonly requestId: string | null;
  /** Null if the stream was cut before it said its cost. */
  readonly costUsd: string | null;
  /** The limit that the reply reached, such as `max_cost`; null if it reached none. */
  readonly stoppedBy: string | null;
  /** Why the reply ended early; null for a whole reply, or one that was stopped here. */
  readonly problem: Error | null;
}

const NANO_DIGITS = 9;
const DONE = "[DONE]";

interface StreamTerms {
  /** Called with each piece of the answer. */
  readonly onText: (piece: string) => void;
  readonly signal: AbortSignal;
}

/** Streams a chat. Throws if the call was refused. */
export async function streamChat(
  account: string,
  call: ApiCall,
  { onText, signal }: StreamTerms,
): Promise<StreamEnd> {
  const response = await postRaw(ofAccount(account, "playground"), call, signal);
  const requestId = response.headers.get("x-request-id");
  const broken = new RequestError(t.playground.broken, {
    status: 0,
    code: "broken_off",
    requestId,
  });
  let costUsd: string | null = null;
  let stoppedBy: string | null = null;
  try {
    for await (const data of eventsOf(response)) {
      if (data === DONE) return { requestId, costUsd, stoppedBy, problem: null };
      const { choices, svc, error } = JSON.parse(data) as Chunk;
      if (error !== undefined) {
        const problem = new RequestError(t.refusals.message(error.code, error.message), {
          status: 0,
          code: error.code,
          requestId,
        });
        return { requestId, costUsd, stoppedBy, problem };
      }
      const text = choices?.[0]?.delta?.content ?? "";
      if (text !== "") onText(text);
      // A number of JSON may be written as 1e-7; nine decimals hold every amount of a call.
      if (svc?.cost_usd !== undefined) costUsd = svc.cost_usd.toFixed(NANO_DIGITS);
      stoppedBy = svc?.stopped_by ?? stoppedBy;
    }
  } catch (error) {
    // A browser's own words for a broken connection do not help people.
    broken.cause = error;
  }
  return { requestId, costUsd, stoppedBy, problem: signal.aborted ? null : broken };
}

/** Yields the data of each event of a stream, until the stream ends or breaks. */
async function* eventsOf({ body }: Response): AsyncGenerator<string> {
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const events = `${rest}${part.value}`.split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (data !== undefined) yield data;
    }
  }
}

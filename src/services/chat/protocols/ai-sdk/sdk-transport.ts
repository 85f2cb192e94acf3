// Our HTTP client as the `fetch` of a provider's package: with our time limits, limits of size,
// and errors. The package gets only good replies, so it has nothing to retry and no error to keep.

import type { CancelSignal } from "../../../../core/cancellation.ts";
import { OK } from "../../../../core/errors.ts";
import { isObject, jsonOrNull } from "../../../../core/text/json.ts";
import { RouteFailure } from "../../../../upstream/route-failure.ts";
import type { TimeLimit } from "../../../../upstream/time-limit.ts";
import { brokenReply, exchange, readText, tooLarge } from "../../../../upstream/upstream-http.ts";
import type { BodyReader, UpstreamResponse } from "../../../../upstream/upstream-response.ts";
import { refuse } from "../openai/refuse-call.ts";
import type { UpstreamCall } from "../protocol.ts";
import type { SdkFetch, SdkForm } from "./sdk-form.ts";

/** The limits of one request. */
export interface RequestLimits {
  /** The limit of a whole reply. */
  readonly limit?: TimeLimit;
  /** The signal that ends a stream. */
  readonly signal?: CancelSignal;
  readonly bytesMax: number;
}

/** The parts of a form that the requests of its package go through. */
type SentForm = Pick<SdkForm, "limitOf" | "fields">;

/** Sends the one request of a call. */
export class SdkTransport {
  readonly #call: UpstreamCall;
  readonly #form: SentForm;
  readonly #limits: RequestLimits;
  #isSent = false;
  /** The reason of a failure, whatever the package makes of it; null while there is none. */
  failure: { readonly reason: unknown } | null = null;

  constructor(call: UpstreamCall, form: SentForm, limits: RequestLimits) {
    this.#call = call;
    this.#form = form;
    this.#limits = limits;
  }

  /**
   * For the package. The function is typed as the platform's, whose other members no package uses.
   */
  readonly fetch = ((input: string | URL, init: RequestInit = {}) =>
    this.#send(String(input), init)) as unknown as SdkFetch;

  async #send(url: string, init: RequestInit): Promise<Response> {
    try {
      return await this.#exchange(url, init);
    } catch (reason) {
      throw this.#noted(reason);
    }
  }

  #exchange(url: string, { headers, body: written }: RequestInit): Promise<Response> {
    // A protocol sends a call once: a second request would be another one to pay.
    if (this.#isSent) throw new RouteFailure("The reply needs a second request");
    this.#isSent = true;
    if (typeof written !== "string") throw new Error("A package sent a body that is not text");
    const body = this.#checked(written);
    const { limit, signal, bytesMax } = this.#limits;
    const { fetch, account } = this.#call;
    const request = { account, fetch, url, method: "POST", headers: plain(headers), body } as const;
    return exchange({ ...request, limit, signal }, async (response) => {
      if (response.status !== OK) return await refuse(response, this.#call);
      const head = { headers: headOf(response) };
      if (signal === undefined) return new Response(await readText(response, bytesMax), head);
      if (response.body === null) throw new RouteFailure("The stream has no body");
      return new Response(this.#streamOf(response.body.getReader(), signal), head);
    });
  }

  /**
   * Checks the body of a request. Some packages add the tokens of thoughts to the output limit, but
   * the hold covers only the limit of the call.
   */
  #checked(body: string): string {
    const json = jsonOrNull(body);
    const limit = isObject(json) ? this.#form.limitOf(json) : null;
    if (!isObject(json) || typeof limit !== "number" || limit > this.#call.request.maxTokens) {
      throw new RouteFailure("The request would not keep its output limit", "nobody");
    }
    const fields = this.#form.fields?.(this.#call);
    return fields === undefined ? body : JSON.stringify({ ...json, ...fields });
  }

  #streamOf(reader: BodyReader, signal: CancelSignal): ReadableStream<Uint8Array> {
    let bytesRead = 0;
    const pull = async (stream: ReadableStreamDefaultController<Uint8Array>) => {
      try {
        const { done, value } = await reader.read();
        if (done) return stream.close();
        bytesRead += value.length;
        if (bytesRead > this.#limits.bytesMax) throw tooLarge();
        // The client uses its buffer again.
        stream.enqueue(new Uint8Array(value));
      } catch (error) {
        const reason = signal.aborted ? signal.reason : error;
        const isKnown = signal.aborted || reason instanceof RouteFailure;
        stream.error(this.#noted(isKnown ? reason : brokenReply(reason)));
      }
    };
    // Nothing is read ahead of the package.
    return new ReadableStream({ pull }, { highWaterMark: 0 });
  }

  #noted(reason: unknown): unknown {
    this.failure ??= { reason };
    return reason;
  }
}

function plain(headers: RequestInit["headers"]): Record<string, string> {
  const all = Object.fromEntries(new Headers(headers));
  // Packing would hold a stream back, and a reply is short.
  return { ...all, "accept-encoding": "identity" };
}

/** The headers of replies that packages read. */
const READ_HEADERS = ["content-type", "date", "x-gemini-service-tier", "request-id"];

function headOf({ headers }: UpstreamResponse): Headers {
  const head = new Headers();
  for (const name of READ_HEADERS) {
    const value = headers.get(name);
    if (value !== null) head.set(name, value);
  }
  return head;
}

// The results of endpoints, from which their responses are made.

import type { FrameSource } from "./sse.ts";

interface AnswerMeta {
  /** The charge of the call, with the same decimal digits as in the body. */
  readonly costUsd?: string;
  readonly status?: number;
  /** True if this repeats the response to an earlier request. */
  readonly isRepeat?: boolean;
  /**
   * True if the answer reports a failure that may be over later, so that no repeat gets the answer.
   */
  readonly isFailure?: boolean;
}

/** The result of an endpoint: JSON text, bytes, events, or a response. */
export type Answer =
  | (AnswerMeta & { readonly json: string })
  | (AnswerMeta & { readonly bytes: Uint8Array<ArrayBuffer> })
  | { readonly events: FrameSource }
  /** A whole response, which another protocol's library made. */
  | { readonly response: Response };

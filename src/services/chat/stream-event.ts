// The events of a streamed chat call.

import type { Settlement } from "../../../actors/account.ts";
import type { ApiError } from "../../core/errors.ts";
import type { ChatDelta, ChatUsage } from "./protocols/provider.ts";

/** A stream or a round that is settled, or the sums of several. */
export interface EndedStream {
  readonly usage: ChatUsage;
  readonly settlement: Settlement;
}

export type StreamEvent =
  | {
      readonly kind: "deltas";
      readonly deltas: readonly ChatDelta[];
      readonly fingerprint: string | null;
    }
  | (EndedStream & {
      readonly kind: "end";
      /** True if the stream was ended because it had used up its hold. */
      readonly isCut: boolean;
    })
  | { readonly kind: "thinking" }
  /** The stream broke off. The part that was sent is charged. */
  | {
      readonly kind: "error";
      readonly error: ApiError;
      /** The usage and the settlement of the part that was sent. */
      readonly ended?: EndedStream;
    };

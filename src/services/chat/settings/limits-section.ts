// Defines and reads `chat_limits` in the configuration file: at its top for all models, and in the
// entry of a model for that one.

import { type Static, Type } from "@sinclair/typebox";
import { CHAT, MESSAGES } from "../../../core/access/limits.ts";
import { closed, whole } from "../../../core/configuration/fields.ts";
import type { SectionContext } from "../../../core/configuration/section.ts";
import type { ChatLimits } from "../models/chat-limits.ts";

const TOKENS_MAX = MESSAGES.maxTokensMax;

export const Limits = Type.Object(
  {
    messages: Type.Optional(
      whole(
        CHAT.messagesMax,
        MESSAGES.messagesMax,
        `Most messages of a request; default ${CHAT.messagesMax}`,
      ),
    ),
    max_tokens: Type.Optional(
      whole(
        CHAT.maxTokensMax,
        TOKENS_MAX,
        `The highest max_tokens of a request; default ${CHAT.maxTokensMax}`,
      ),
    ),
    default_max_tokens: Type.Optional(
      whole(
        CHAT.maxTokensDefault,
        TOKENS_MAX,
        `max_tokens of a request without it; default ${CHAT.maxTokensDefault}`,
      ),
    ),
  },
  { ...closed, description: "Higher limits of chat completions" },
);

interface LimitsPlace extends Pick<SectionContext, "refuse"> {
  readonly pointer: string;
  /** The limits where the file raises none here. */
  readonly others: ChatLimits;
}

/** The limits that the file raises. */
export function toLimits(
  file: Static<typeof Limits>,
  { pointer, others, refuse }: LimitsPlace,
): Partial<ChatLimits> {
  const { messages, max_tokens: most, default_max_tokens: usual } = file;
  const limits = {
    ...(messages !== undefined && { messagesMax: messages }),
    ...(most !== undefined && { maxTokensMax: most }),
    ...(usual !== undefined && { maxTokensDefault: usual }),
  };
  const { maxTokensDefault, maxTokensMax } = { ...others, ...limits };
  if (maxTokensDefault > maxTokensMax) {
    const field = usual === undefined ? "max_tokens" : "default_max_tokens";
    refuse(`${pointer}/${field}`, `leaves a default of ${maxTokensDefault} above ${maxTokensMax}`);
  }
  return limits;
}

// The fate of each part of a Messages body that is passed through to a server of the same form:
// forwarded, set, or refused. Parts that are not listed here are named to the caller.

import type { Json } from "../../../../core/text/json.ts";
import { isAbsent } from "../../../../http/body/checks.ts";
import type { OwnThought } from "../../protocols/provider.ts";
import { shortName } from "../door-meta.ts";
import { isSealed } from "../sealed-extra.ts";
import type { AssistantBlock, MessageFields, MessagesFields } from "./messages-body.ts";

/**
 * The top-level fields. `set`: the protocol sends its own value (messages-form.ts). `refuse`: the
 * schema allows no value with an effect.
 */
const FIELDS = {
  model: "set",
  max_tokens: "set",
  stream: "set",
  metadata: "set",
  service_tier: "set",
  messages: "forward",
  system: "forward",
  tools: "forward",
  tool_choice: "forward",
  thinking: "forward",
  output_config: "forward",
  output_format: "forward",
  cache_control: "forward",
  context_management: "forward",
  temperature: "forward",
  top_p: "forward",
  top_k: "forward",
  stop_sequences: "forward",
  speed: "refuse",
  inference_geo: "refuse",
  fallbacks: "refuse",
  mcp_servers: "refuse",
  container: "refuse",
} as const satisfies Record<keyof MessagesFields, "forward" | "set" | "refuse">;

const FORWARDED = Object.entries(FIELDS).flatMap(([name, fate]) =>
  fate === "forward" ? [name as keyof MessagesFields] : [],
);

/** The fields of a body that are forwarded as they are. */
export function forwardedBody(fields: MessagesFields): Json {
  const body: Record<string, unknown> = {};
  for (const name of FORWARDED) if (!isAbsent(fields[name])) body[name] = fields[name];
  body.messages = withoutUnsigned(fields.messages);
  return body;
}

/**
 * The messages without thoughts that no provider signed. Farebox makes such thoughts (D-677), and a
 * conversation keeps them after a change of model. Anthropic refuses these thoughts, and empty
 * messages too.
 */
function withoutUnsigned(messages: readonly MessageFields[]): readonly MessageFields[] {
  // Most conversations have none.
  if (!messages.some(hasUnsigned)) return messages;
  return messages.flatMap((message) => {
    if (!hasUnsigned(message)) return [message];
    const content = blocksIn(message).filter((block) => !isUnsigned(block));
    return content.length === 0 ? [] : [{ ...message, content } as MessageFields];
  });
}

/** The names of blocks that a server of the same form does not get, for `svc.ignored`. */
export function unsentBlocks(messages: readonly MessageFields[]): readonly string[] {
  const unsigned = messages.flatMap((message) => blocksIn(message).filter(isUnsigned));
  return [...new Set(unsigned.map(nameOf))];
}

/** The thoughts in the history, with what decides whether a server of another form gets them. */
export function thoughtsIn(messages: readonly MessageFields[]): readonly OwnThought[] {
  return messages.flatMap((message) => {
    const blocks = blocksIn(message);
    const lastCall = blocks.findLastIndex(({ type }) => type === "tool_use");
    const leadsOn = lastCall >= 0 || blocks.some((block) => block.type === "text" && block.text);
    return blocks.flatMap((block, at): OwnThought[] => {
      if (!isThought(block)) return [];
      const { type } = block;
      const hasWords = type === "thinking" && block.thinking !== "";
      const isSigned = !isUnsigned(block);
      if (!hasWords && !isSigned) return [];
      // A thought travels with the call that it led to (D-677).
      const isSealed = isSigned && at < lastCall;
      return [{ name: nameOf(block), hasWords: hasWords && Boolean(leadsOn), isSealed }];
    });
  });
}

/** The blocks of a message of the model; none for any other message. */
export function blocksIn({ role, content }: MessageFields): readonly AssistantBlock[] {
  return role === "assistant" && typeof content !== "string" ? content : [];
}

function hasUnsigned(message: MessageFields): boolean {
  return blocksIn(message).some(isUnsigned);
}

type ThoughtBlock = Extract<AssistantBlock, { type: "thinking" | "redacted_thinking" }>;

function isThought(block: AssistantBlock): block is ThoughtBlock {
  return block.type === "thinking" || block.type === "redacted_thinking";
}

function nameOf({ type }: AssistantBlock): string {
  return `messages[].content: ${type}`;
}

function isUnsigned(block: AssistantBlock): boolean {
  if (block.type === "thinking") return isAbsent(block.signature) || block.signature === "";
  return block.type === "redacted_thinking" && isSealed(block.data);
}

/** The betas whose effects have a price here, by their names without the date. */
const BETAS: ReadonlySet<string> = new Set([
  "advanced-tool-use",
  "claude-code",
  "computer-use",
  "context-1m",
  "context-management",
  "effort",
  "extended-cache-ttl",
  "fine-grained-tool-streaming",
  "interleaved-thinking",
  "mid-conversation-system",
  "output-128k",
  "pdfs",
  "prompt-caching",
  "prompt-caching-scope",
  "structured-outputs",
  "thinking-token-count",
  "token-counting",
  "token-efficient-tools",
  "tool-examples",
]);
const BETAS_MAX = 32;
const DATE = /-\d{4}-\d{2}-\d{2}$|-\d{8}$/;

export interface Betas {
  readonly forwarded: readonly string[];
  /** The names of the betas without effect, as `svc.ignored` has them. */
  readonly ignored: readonly string[];
}

const NO_BETAS: Betas = { forwarded: [], ignored: [] };

/** The betas in the header `anthropic-beta`. An unknown name is never refused. */
export function betasIn(header: string | null): Betas {
  if (header === null) return NO_BETAS;
  const names = header.split(",", BETAS_MAX).flatMap((name) => name.trim() || []);
  const isForwarded = (name: string) => BETAS.has(name.replace(DATE, ""));
  return {
    forwarded: names.filter(isForwarded),
    ignored: names
      .filter((name) => !isForwarded(name))
      .map((name) => `anthropic-beta: ${shortName(name)}`),
  };
}

// The order of the events of Responses and Messages, which their clients rely on.

/** An event, by the fields that its order shows in. */
export interface OrderedEvent {
  readonly type?: string;
  readonly sequence_number?: number;
  readonly output_index?: number;
  readonly index?: number;
}

/**
 * The fault in the order of these events, or null. `isWhole`: the stream has ended, so its last
 * event must be an end. Events without a type are those of chat, which have no such order.
 */
export function orderFault(events: readonly OrderedEvent[], isWhole: boolean): string | null {
  const [first] = events;
  if (first?.type === undefined) return null;
  const isResponse = first.sequence_number !== undefined;
  return isResponse ? faultOfResponse(events, isWhole) : faultOfMessage(events, isWhole);
}

const RESPONSE_ENDS: ReadonlySet<unknown> = new Set([
  "response.completed",
  "response.incomplete",
  "response.failed",
]);

/** Events are numbered from 0, and an item begins before its other events and ends once. */
function faultOfResponse(events: readonly OrderedEvent[], isWhole: boolean): string | null {
  if (events[0]?.type !== "response.created") return `It begins with ${events[0]?.type}`;
  const open = new Set<number>();
  const done = new Set<number>();
  for (const [at, { type, sequence_number, output_index: item }] of events.entries()) {
    if (sequence_number !== at) return `Event ${at} has the number ${sequence_number}`;
    if (RESPONSE_ENDS.has(type) && at < events.length - 1) return `${type} is not the last event`;
    if (item === undefined) continue;
    if (type === "response.output_item.added") {
      if (open.has(item) || done.has(item)) return `Item ${item} begins twice`;
      open.add(item);
    } else if (!open.has(item)) return `${type} of item ${item}, which is not open`;
    if (type === "response.output_item.done") {
      open.delete(item);
      done.add(item);
    }
  }
  const { type } = events.at(-1) ?? {};
  if (isWhole && !RESPONSE_ENDS.has(type)) return `It ends with ${type}`;
  return isWhole && type !== "response.failed" && open.size > 0 ? "An item stays open" : null;
}

/** Blocks have the numbers of their order, and their deltas between their start and their end. */
function faultOfMessage(events: readonly OrderedEvent[], isWhole: boolean): string | null {
  const last = events.at(-1)?.type;
  if (isWhole && last !== "message_stop" && last !== "error") return `It ends with ${last}`;
  if (events[0]?.type === "error") return null;
  if (events[0]?.type !== "message_start") return `It begins with ${events[0]?.type}`;
  let next = 0;
  const open = new Set<number>();
  for (const [at, { type, index = -1 }] of events.entries()) {
    if (type === "message_start" && at > 0) return "It begins twice";
    if (type === "message_stop" && at < events.length - 1) return "An event follows the last one";
    if (type === "content_block_start") {
      if (index !== next) return `Block ${index} begins in place of block ${next}`;
      open.add(index);
      next += 1;
    } else if (type === "content_block_delta" || type === "content_block_stop") {
      if (!open.has(index)) return `${type} of block ${index}, which is not open`;
    }
    if (type === "content_block_stop") open.delete(index);
  }
  return last === "message_stop" && open.size > 0 ? "A block stays open" : null;
}

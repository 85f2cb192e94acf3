// Streams whose server sends events twice, out of order, after the end, with impossible values, or
// not at all: callers get a stream in the order of their door, and pay at most the hold.

import { beforeEach, describe, expect, test } from "bun:test";
import { nano, usd } from "../../../src/core/money/money.ts";
import { until } from "../../support/api/api-world.ts";
import { type DoorEvent, dataOf, doorAt } from "../../support/api/doors.ts";
import { DOOR_WAYS, type DoorWay, doorsAt } from "../../support/api/doors-world.ts";
import { orderFault } from "../../support/api/event-order.ts";
import { startWireServer, type WireReply } from "../../support/fakes/wire/wire-server.ts";
import { anySeed, Random } from "../../support/random.ts";
import { shared } from "../../support/shared.ts";

const server = await shared(startWireServer());
const api = await doorsAt(server.url);

beforeEach(() => server.reset());

const STREAMS = 60;
/** The most that a stream below can hold: its prompt, and 200 tokens of a reply. */
const COST_MAX = usd("0.0006");

const ANSWER = {
  thought: { text: "A fare? ", seal: "c2VhbA==" },
  text: ["I see ", "the bus ", "leave."],
  calls: [{ id: "call_1", name: "exec", input: { n: 4217 } }],
  end: "stop",
  usage: { uncached: 12, cacheRead: 0, cacheWrite: 0, output: 60, reasoning: 0 },
} as const;

const GARBAGE = [
  "data: {\n\n",
  "data: null\n\n",
  "data: []\n\n",
  "data:\n\n",
  ": comment\n\n",
  "event: ping\ndata: {}\n\n",
  'data: {"type":"response.unheard_of","sequence_number":-1,"output_index":-1}\n\n',
  'data: {"type":"content_block_delta","index":99,"delta":{"type":"text_delta","text":"x"}}\n\n',
  'data: {"choices":[{"index":7,"delta":{"content":"x"},"finish_reason":null}]}\n\n',
  'data: {"__proto__":{"choices":[]},"constructor":1}\n\n',
];
const NUMBERS = ["-1", "1e308", "9007199254740993", "0.5", "null", '"7"', "[]", "{}"];
const TEXTS = ['""', '"\\ud800"', '"\\u0000"', '"__proto__"', "null", "7", "{}", '"\\n\\ndata: x"'];

type Events = string[];

/** The faults that a server can have in its events. */
const FAULTS: readonly ((events: Events, random: Random) => void)[] = [
  (events, random) => {
    const [one, other] = [
      random.between(0, events.length - 1),
      random.between(0, events.length - 1),
    ];
    [events[one], events[other]] = [events[other] ?? "", events[one] ?? ""];
  },
  (events, random) => {
    events.splice(random.between(0, events.length), 0, random.pick(events));
  },
  (events, random) => void events.splice(random.between(0, events.length - 1), 1),
  (events, random) => void events.push(random.pick(events)),
  (events, random) => {
    events.splice(random.between(0, events.length), 0, random.pick(GARBAGE));
  },
  (events, random) => {
    const at = random.between(0, events.length - 1);
    const numbers = [...(events[at] ?? "").matchAll(/(?<=":)-?\d+(?:\.\d+)?/g)];
    if (numbers.length > 0) replace(events, at, random.pick(numbers), random.pick(NUMBERS));
  },
  (events, random) => {
    const at = random.between(0, events.length - 1);
    const texts = [...(events[at] ?? "").matchAll(/(?<=":)"[^"]*"/g)];
    if (texts.length > 0) replace(events, at, random.pick(texts), random.pick(TEXTS));
  },
];

function replace(
  events: Events,
  at: number,
  { 0: found, index = 0 }: RegExpMatchArray,
  by: string,
) {
  const event = events[at] ?? "";
  events[at] = event.slice(0, index) + by + event.slice(index + found.length);
}

function brokenStream({ wire }: DoorWay, random: Random): WireReply {
  const whole = wire.stream(ANSWER);
  const events = whole.body.map(String);
  const faults = random.between(1, 3);
  for (let fault = 0; fault < faults && events.length > 0; fault++)
    random.pick(FAULTS)(events, random);
  return { ...whole, body: events, end: random.next() < 0.2 ? "cut" : "whole" };
}

/** The events of a stream. Throws if they do not have the order of the door. */
function eventsOf({ door }: DoorWay, text: string, url: string): readonly DoorEvent[] {
  const frames = dataOf(text);
  const isDone = frames.at(-1) === "[DONE]";
  const data = (isDone ? frames.slice(0, -1) : frames).map((one) => JSON.parse(one));
  const events: readonly DoorEvent[] = data.map((one) => doorAt(url).event(one as never));
  const failures = events.filter(({ error }) => (error ?? null) !== null).length;
  if (door === "chat" || door === "text") expect(failures + Number(isDone)).toBe(1);
  else {
    expect([isDone, events.filter(({ isLast }) => isLast === true).length + failures]).toEqual([
      false,
      1,
    ]);
    expect(events.at(-1)?.isLast === true || (events.at(-1)?.error ?? null) !== null).toBe(true);
  }
  expect(orderFault(data, true)).toBeNull();
  return events;
}

function isOurs({ fields }: { readonly fields: object }): boolean {
  return "code" in fields && fields.code === "internal_error";
}

describe.each(DOOR_WAYS)("$name", (way) => {
  test("puts broken streams in order, and charges them within their hold", async () => {
    const seed = anySeed();
    const random = new Random(seed);
    const account = await api.account({ contract: "enterprise", paid: "100" });
    for (let at = 0; at < STREAMS; at++) {
      const reply = brokenStream(way, random);
      const { paid: before } = await api.view(account);
      const errors = api.errors.length;
      server.reset();
      server.queue(reply);
      const response = await api.postTo(
        way.path,
        account,
        way.body({ stream: true, maxTokens: 200 }),
      );
      const text = await response.text();
      try {
        await until(() => api.openCalls === 0, "the call was settled");
        const { paid, heldPaid } = await api.view(account);
        const charged = nano(before - paid);
        expect(heldPaid).toBe(usd("0"));
        expect(charged >= 0n && charged <= COST_MAX).toBe(true);
        expect(api.errors.slice(errors).filter(isOurs)).toEqual([]);
        if (response.status === 200) {
          const events = eventsOf(way, text, response.url);
          const told = events.findLast(({ svc }) => svc !== undefined)?.svc;
          if (told !== undefined) expect(BigInt(Math.round(told.cost_usd * 1e9))).toBe(charged);
        } else expect([response.status, charged]).toEqual([502, nano(0n)]);
      } catch (error) {
        const sent = reply.body.join("");
        throw new Error(`Seed ${seed}, stream ${at}:\n${sent}\nwas answered\n${text}`, {
          cause: error,
        });
      }
    }
  });
});

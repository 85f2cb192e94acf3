// Tests the result of one run of a script, by the replies and failures of a client that plays
// Redis.

import { expect, test } from "bun:test";
import { UnknownLayout } from "../../../../actors/records/layouts.ts";
import { ReplyError } from "../../../../actors/redis/resp-reader.ts";
import type { Reply, ReplyReceiver } from "../../../../actors/redis/script-client.ts";
import type { RedisClient } from "../../../../actors/scripts/script.ts";
import { type RunContext, ScriptRun } from "../../../../actors/scripts/script-run.ts";

const RECOVER = [Buffer.from("recover")];
const UNKNOWN = new ReplyError("ERR Function not found");

interface Played {
  readonly result: Promise<string>;
  /** The waiting callers, one for each copy that was sent. */
  readonly sent: ReplyReceiver[];
  /** For each preparation, true if the script certainly did not run. */
  readonly prepared: boolean[];
  readonly timed: string[];
  readonly layouts: UnknownLayout[];
}

interface PlayOptions {
  readonly sendsTwice?: boolean;
  /** The error that keeps Redis from being prepared. */
  readonly failure?: Error;
  readonly onRun?: () => void;
  readonly onUnknownLayout?: () => void;
}

function play(
  answer: (waiting: ReplyReceiver, copy: number) => void,
  options: PlayOptions = {},
): Played {
  const played = { sent: [], prepared: [], timed: [], layouts: [] } as Omit<Played, "result">;
  const context: RunContext = {
    client: {
      sendsTwice: options.sendsTwice ?? false,
      fcall(_name, _keys, _args, waiting) {
        played.sent.push(waiting);
        answer(waiting, played.sent.length);
      },
    },
    redis: {} as RedisClient,
    timing: {
      monotonicMs: () => 0,
      onRun(script) {
        options.onRun?.();
        played.timed.push(script);
      },
    },
    onUnknownLayout(error) {
      options.onUnknownLayout?.();
      played.layouts.push(error);
    },
    prepareFor(_name, isUnsent) {
      played.prepared.push(isUnsent);
      return options.failure === undefined ? Promise.resolve() : Promise.reject(options.failure);
    },
  };
  const script = { name: "test", reply: readReply };
  const result = new Promise<string>((resolve, reject) => {
    new ScriptRun(context, { script, name: "test_1", keys: [], args: [] }, resolve, reject).send();
  });
  return { ...played, result };
}

function readReply(raw: unknown): string {
  if (raw instanceof Buffer) return raw.toString();
  throw new Error("Not a reply of this script");
}

const FINE: Reply = Buffer.from("fine");

test("a run returns the reply of its script, and is timed", async () => {
  const { result, sent, timed } = play((waiting) => waiting.resolve(FINE));
  expect(await result).toBe("fine");
  expect(sent).toHaveLength(1);
  expect(timed).toEqual(["test"]);
});

test("a run is sent again once Redis is prepared, eight times at most", async () => {
  const some = play((waiting, copy) => waiting.resolve(copy < 9 ? RECOVER : FINE));
  expect(await some.result).toBe("fine");
  // A client that sends twice sends again only if the copy before certainly did not run.
  expect(some.prepared).toEqual(Array<boolean>(8).fill(true));
  const never = play((waiting) => waiting.resolve(RECOVER), { sendsTwice: true });
  await expect(never.result).rejects.toMatchObject({
    code: "service_unavailable",
    cause: new Error("Redis was prepared, and still has to be"),
  });
  expect(never.prepared).toEqual(Array<boolean>(8).fill(false));
});

test("a missing library is loaded, three times at most", async () => {
  const some = play((waiting, copy) =>
    copy < 4 ? waiting.reject(UNKNOWN) : waiting.resolve(FINE),
  );
  expect(await some.result).toBe("fine");
  expect(some.prepared).toHaveLength(3);
  const never = play((waiting) => waiting.reject(UNKNOWN));
  await expect(never.result).rejects.toMatchObject({ code: "service_unavailable", cause: UNKNOWN });
  expect(never.prepared).toHaveLength(3);
});

test("a slot that moved is asked for again, three times at most", async () => {
  const moved = new ReplyError("MOVED 1 127.0.0.1:7000");
  const some = play((waiting, copy) => (copy < 4 ? waiting.reject(moved) : waiting.resolve(FINE)));
  expect(await some.result).toBe("fine");
  expect(some.prepared).toEqual([]);
  const never = play((waiting) => waiting.reject(moved));
  await expect(never.result).rejects.toMatchObject({ code: "service_unavailable", cause: moved });
  expect(never.sent).toHaveLength(4);
});

test("any other failure ends the run, and so does a reply that is not the script's", async () => {
  const oom = new ReplyError("OOM command not allowed");
  const refused = play((waiting) => waiting.reject(oom));
  await expect(refused.result).rejects.toMatchObject({ code: "service_unavailable", cause: oom });
  const wrong = play((waiting) => waiting.resolve(7));
  await expect(wrong.result).rejects.toMatchObject({ code: "service_unavailable" });
  const unsent = play(() => {
    throw new RangeError("It cannot be sent");
  });
  await expect(unsent.result).rejects.toMatchObject({
    code: "service_unavailable",
    cause: new RangeError("It cannot be sent"),
  });
  const unprepared = play((waiting) => waiting.resolve(RECOVER), { failure: oom });
  await expect(unprepared.result).rejects.toBe(oom);
  for (const { sent } of [refused, wrong, unsent, unprepared]) expect(sent).toHaveLength(1);
});

test("a layout that this release does not know is reported, and ends the run", async () => {
  const { result, layouts, sent } = play((waiting) =>
    waiting.reject(new ReplyError("ERR LAYOUT 9 is in force")),
  );
  await expect(result).rejects.toMatchObject({ cause: new UnknownLayout(9) });
  expect(layouts).toEqual([new UnknownLayout(9)]);
  expect(sent).toHaveLength(1);
});

test("a fault of code that measures or reports a run ends only the run", async () => {
  const fault = new RangeError("A fault of ours");
  const throwing = () => {
    throw fault;
  };
  const measured = play((waiting) => waiting.resolve(FINE), { onRun: throwing });
  const unknown = new ReplyError("ERR LAYOUT 9 is in force");
  const reported = play((waiting) => waiting.reject(unknown), { onUnknownLayout: throwing });
  for (const { result } of [measured, reported]) {
    await expect(result).rejects.toMatchObject({ code: "service_unavailable", cause: fault });
  }
});

import { afterEach, describe, expect, test } from "bun:test";
import type { ChatRequest } from "../../../../../src/services/chat/protocols/provider.ts";
import { TokenCounter } from "../../../../../src/services/chat/tokens/token-counter.ts";
import { countPrompt, countTokens } from "../../../../../src/services/chat/tokens/tokens.ts";
import { eventually } from "../../../../support/eventually.ts";
import { FakeClock, realClock } from "../../../../support/fakes/fake-clock.ts";
import { silent } from "../../../../support/fakes/silent-log.ts";

const ROOT = new URL("../../../../../", import.meta.url);
const NO_LIMIT = Number.POSITIVE_INFINITY;
const KB = 1024;

const open: TokenCounter[] = [];
afterEach(() => {
  for (const counter of open.splice(0)) counter.close();
});

/** A counter whose threads are started by `start`; by default they are real. */
function counterOf({
  clock = realClock,
  start,
}: {
  readonly clock?: typeof realClock;
  readonly start?: () => Worker;
} = {}): TokenCounter {
  const counter = new TokenCounter({ clock, log: silent, ...(start && { start }) });
  open.push(counter);
  return counter;
}

const threadOf = (name: string) => () =>
  new Worker(new URL(`../../../../support/fakes/${name}.ts`, import.meta.url));

function promptOf(content: string): ChatRequest {
  return { messages: [{ role: "user", content }], maxTokens: 10, parameters: {} };
}

const words = (bytes: number) => "word ".repeat(bytes / 5);

describe("TokenCounter", () => {
  test("counts as the tokenizer does, whatever the length", async () => {
    const counter = counterOf();
    for (const bytes of [100, 5 * KB, 200 * KB]) {
      const prompt = promptOf(words(bytes));
      const exact = await countPrompt(prompt);
      expect(await counter.countPrompt("a", prompt)).toBe(exact);
      expect(await counter.estimatePrompt("a", prompt, NO_LIMIT)).toBe(exact);
    }
    const long = words(600 * KB);
    expect(await counter.countPrompt("a", promptOf(long))).toBe(await countPrompt(promptOf(long)));
    expect(await counter.countTexts("a", ["One hold.", "Two."])).toBe(
      countTokens("One hold.") + countTokens("Two."),
    );
  });

  test("ends an estimate early above its limit", async () => {
    const some = await counterOf().estimatePrompt("a", promptOf(words(200 * KB)), 1_000);
    expect(some).toBeGreaterThan(1_000);
    expect(some).toBeLessThan(20_000);
  });

  test("estimates no prompt above 256 KB", async () => {
    let starts = 0;
    const start = () => {
      starts += 1;
      return threadOf("silent-thread")();
    };
    const counter = counterOf({ start });
    expect(await counter.estimatePrompt("a", promptOf(words(257 * KB)), NO_LIMIT)).toBeNull();
    expect(starts).toBe(0);
  });

  test("does not delay a small count by another account's large one", async () => {
    const counter = counterOf();
    const done: string[] = [];
    const note = (name: string) => () => void done.push(name);
    await Promise.all([
      counter.countTexts("large", [words(2_000 * KB)]).then(note("large")),
      counter.countTexts("large", [words(2 * KB)]).then(note("large, later")),
      counter.countTexts("small", [words(5 * KB)]).then(note("small")),
    ]);
    expect(done).toEqual(["small", "large", "large, later"]);
  });

  test("gives up a count that is not wanted any more, with a thread and without", async () => {
    const prompt = promptOf(words(2_000 * KB));
    let isWanted = true;
    const given = counterOf().countPrompt("a", prompt, () => isWanted);
    const later = counterOf().countTexts("a", [words(5 * KB)]);
    isWanted = false;
    expect(await given).toBeLessThan(100_000);
    expect(await later).toBe(countTokens(words(5 * KB)));
    const alone = counterOf({ start: threadOf("dying-thread") });
    expect(await alone.countPrompt("a", prompt, () => isWanted)).toBeLessThan(100);
  });

  test.each([50, 8, 1])("counts 50 texts of %d accounts in few messages", async (accounts) => {
    let messages = 0;
    const counter = counterOf({
      start: () => {
        const thread = new Worker(new URL("src/services/chat/tokens/token-thread.ts", ROOT));
        const post = thread.postMessage.bind(thread);
        return Object.assign(thread, {
          postMessage(message: unknown) {
            messages += 1;
            post(message);
          },
        });
      },
    });
    const texts = Array.from({ length: 50 }, (_, index) => words((index + 1) * 10));
    const counts = await Promise.all(
      texts.map((text, index) => counter.countTexts(`account ${index % accounts}`, [text])),
    );
    expect(counts).toEqual(texts.map(countTokens));
    // The thread's setup, the first text, and all the others; a slow thread gets no more texts.
    expect(messages).toBeLessThanOrEqual(3);
  });

  test("lets four estimates of an account wait, and 64 of all", async () => {
    const counter = counterOf({ start: threadOf("silent-thread") });
    const prompt = promptOf(words(10 * KB));
    const left: Promise<number | null>[] = [];
    const ask = (account: string) => counter.estimatePrompt(account, prompt, NO_LIMIT);
    // The first estimate is being counted and does not wait.
    left.push(ask("first"));
    for (let count = 0; count < 4; count += 1) left.push(ask("first"));
    expect(await ask("first")).toBeNull();
    for (let count = left.length; count < 64; count += 1) left.push(ask(`other ${count}`));
    expect(await ask("late")).toBeNull();
    counter.close();
    expect(new Set(await Promise.all(left))).toEqual(new Set([null]));
    expect(await ask("after")).toBeNull();
  });

  test("lets estimates of short prompts always wait", async () => {
    const prompt = promptOf("One hold.");
    const counter = counterOf();
    const asked = Array.from({ length: 500 }, () => counter.estimatePrompt("a", prompt, NO_LIMIT));
    const exact = await countPrompt(prompt);
    expect(new Set(await Promise.all(asked))).toEqual(new Set([exact]));
  });

  test("starts its thread after a while, and not once it is closed", () => {
    const clock = new FakeClock();
    let starts = 0;
    const start = () => {
      starts += 1;
      return threadOf("silent-thread")();
    };
    const counter = counterOf({ clock, start });
    counter.warmUp();
    expect(starts).toBe(0);
    clock.advance(10_000);
    expect(starts).toBe(1);
    const closed = counterOf({ clock, start });
    closed.warmUp();
    closed.close();
    clock.advance(60_000);
    expect(starts).toBe(1);
  });

  test("does not wait for a thread that ended, and starts another", async () => {
    const clock = new FakeClock();
    let starts = 0;
    const dying = threadOf("dying-thread");
    const real = () => new Worker(new URL("src/services/chat/tokens/token-thread.ts", ROOT));
    const start = () => (starts++ === 0 ? dying() : real());
    const counter = counterOf({ clock, start });
    const prompt = promptOf(words(50 * KB));
    const exact = await countPrompt(prompt);
    const [estimate, charged] = await Promise.all([
      counter.estimatePrompt("a", prompt, NO_LIMIT),
      counter.countPrompt("b", prompt),
    ]);
    // The charged tokens are counted without the thread.
    expect([estimate, charged]).toEqual([null, exact]);
    expect(await counter.estimatePrompt("a", prompt, NO_LIMIT)).toBeNull();
    expect(starts).toBe(1);
    clock.advance(1_000);
    expect(await counter.estimatePrompt("a", prompt, NO_LIMIT)).toBe(exact);
    expect([starts, clock.pending]).toEqual([2, 0]);
  });

  test("ends a thread that does not answer within ten seconds", async () => {
    const clock = new FakeClock();
    const counter = counterOf({ clock, start: threadOf("silent-thread") });
    const text = words(50 * KB);
    const charged = counter.countTexts("a", [text]);
    await eventually("the thread was asked", () => clock.pending === 1);
    clock.advance(10_000);
    expect(await charged).toBeGreaterThanOrEqual(countTokens(text));
  });
});

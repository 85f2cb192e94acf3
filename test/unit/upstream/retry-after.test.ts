import { describe, expect, test } from "bun:test";
import { Fallback } from "../../../src/upstream/fallback.ts";
import { RouteFailure } from "../../../src/upstream/route-failure.ts";
import { retryAfterOf } from "../../../src/upstream/upstream-http.ts";
import { FakeClock } from "../../support/fakes/fake-clock.ts";
import { silent } from "../../support/fakes/silent-log.ts";

describe("retryAfterOf()", () => {
  const date = "Sat, 21 Nov 2026 10:00:00 GMT";
  const cases: readonly (readonly [value: string | null, seconds: number | null])[] = [
    ["7", 7],
    [" 7 ", 7],
    ["0", 1],
    ["0.2", 1],
    ["99999999", 86_400],
    ["Sat, 21 Nov 2026 10:01:00 GMT", 60],
    ["Sat, 21 Nov 2026 09:00:00 GMT", 1],
    ["soon", null],
    ["", null],
    [null, null],
  ];
  for (const [value, seconds] of cases) {
    test(`reads ${value} as ${seconds}`, () => {
      const headers = new Headers({ date });
      if (value !== null) headers.set("retry-after", value);
      expect(retryAfterOf(headers)).toBe(seconds);
    });
  }

  test("reads no date without the server's clock", () => {
    expect(retryAfterOf(new Headers({ "retry-after": date }))).toBeNull();
  });
});

describe("when no server answers, the refusal has the soonest time that one of them named", () => {
  const failures = (seconds: readonly (number | null)[]) => {
    const candidates = seconds.map((retryAfter, at) => ({
      server: { name: `s${at}`, baseUrl: "", concurrencyMax: 1 },
      retryAfter,
    }));
    return new Fallback({ clock: new FakeClock(), log: silent }).first({
      candidates,
      attempt: ({ retryAfter }) => Promise.reject(new RouteFailure("No", "nobody", retryAfter)),
      take: ({ result }) => result,
      account: "acct_1",
      signal: new AbortController().signal,
      subject: "a",
      message: "Nobody answers",
    });
  };
  const cases: readonly { told: readonly (number | null)[]; wait: number | undefined }[] = [
    { told: [30, 7, 60], wait: 7 },
    { told: [null, 9], wait: 9 },
    { told: [9, null], wait: 9 },
    { told: [null, null], wait: undefined },
  ];
  for (const { told, wait } of cases) {
    test(`${told.join(", ")}: ${wait}`, async () => {
      const refusal = { code: "upstream_unreachable", retryAfterSeconds: wait };
      await expect(failures(told)).rejects.toMatchObject(refusal);
    });
  }
});

import { expect, test } from "bun:test";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/core/durations.ts";

test("a day, an hour, a minute and a second have their milliseconds", () => {
  expect([DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS]).toEqual([86_400_000, 3_600_000, 60_000, 1_000]);
});

// Tests that lines that repeat with every request while a store is away do not fill the log.

import { expect, test } from "bun:test";
import { eventually } from "../../support/eventually.ts";
import { startProduct } from "../../support/product/product.ts";

const REQUESTS = 300;
/** The lines of a few causes in a few seconds. */
const LINES_MAX = 60;

test("while Redis is away each failed request is logged, or counted in the log", async () => {
  await using product = await startProduct({ apis: 1, workers: 0 });
  const api = product.api(0);
  const { key } = await product.account();
  await product.redis.kill9();
  const headers = { authorization: `Bearer ${key}` };
  const asked = Array.from({ length: REQUESTS }, () => fetch(`${api.url}/v1/me`, { headers }));
  for (const response of await Promise.all(asked)) expect(response.status).toBe(503);
  const failed = () => api.log.filter(({ msg }) => msg === "A request failed");
  await eventually("all are counted", () => {
    const counted = failed().map(({ omitted }) => 1 + Number(omitted ?? 0));
    return counted.reduce((sum, count) => sum + count, 0) === REQUESTS;
  });
  expect(failed().length).toBeLessThan(LINES_MAX);
});

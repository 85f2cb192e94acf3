import { expect, test } from "bun:test";
import { DEFAULT_RUN_RULES } from "../../../src/core/access/runs.ts";
import { endUserIn } from "../../../src/http/body/end-user.ts";
import { idempotencyKeyIn } from "../../../src/http/idempotency.ts";
import { maxCostIn } from "../../../src/http/max-cost.ts";
import { wantsReceiptIn } from "../../../src/http/receipt-header.ts";
import { runIn } from "../../../src/http/run-header.ts";
import { refusalBy } from "../../support/api/rejection.ts";

const runOf = (headers: Headers) => runIn(headers, DEFAULT_RUN_RULES);

test.each([
  ["Idempotency-Key", "x".repeat(256), idempotencyKeyIn],
  ["x-svc-end-user", "x".repeat(300), endUserIn],
  ["x-svc-max-cost-usd", "0", maxCostIn],
  ["x-svc-receipt", "later", wantsReceiptIn],
  ["x-svc-run", "nightly-7; no=1", runOf],
  ["x-svc-run", "nightly-7; ttl=0", runOf],
])("the refusal of the header %s names it, also as its parameter", (name, value, read) => {
  const refusal = refusalBy(() => read(new Headers({ [name]: value })));
  expect(refusal).toMatchObject({ code: "invalid_parameter", param: name });
  expect(refusal.message).toStartWith(`The header ${name} `);
});

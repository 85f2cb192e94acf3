// Tests that one request's id leads through all records of a running product: the answer, the log
// of the process, the trace, the request log, the ledger and the receipt; and that the metrics
// count the request.

import { expect, test } from "bun:test";
import { METRICS } from "../../../src/core/metrics.ts";
import { eventually } from "../../support/eventually.ts";
import { startProduct } from "../../support/product/product.ts";
import { cliProcess, jsonOf } from "../../support/product/run-cli.ts";
import { shared, sharedServer } from "../../support/shared.ts";

const WITHIN_MS = 60_000;

/** The requests that the collector received. */
let traces = "";

const collector = sharedServer(async (request) => {
  traces += await request.text();
  return Response.json({});
});
const product = await shared(
  startProduct({
    apis: 1,
    workers: 1,
    models: [{ id: "ok" }, { id: "breaks", mood: "end-mid-stream" }],
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}`,
      OTEL_TRACES_SAMPLER_ARG: "1",
    },
  }),
);
const account = await product.account({ paid: "10" });

function chat(model: string, key = account.key): Promise<Response> {
  return fetch(`${product.api(0).url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, stream: true, messages: [{ role: "user", content: "Hi" }] }),
  });
}

/** A command of the tool that must succeed. */
async function farebox(...args: readonly string[]) {
  return jsonOf(await cliProcess([...args, "--json"], { env: product.env }));
}

test("x-request-id leads from the answer to log, trace, ledger and receipt", async () => {
  const response = await chat("breaks");
  expect(await response.text()).toContain("Fares");
  const id = response.headers.get("x-request-id") ?? "";
  const logged = () => product.api(0).log.filter((line) => JSON.stringify(line).includes(id));
  await eventually("the log has the request", () => logged().length > 0, WITHIN_MS);
  expect(logged()).toMatchObject([{ msg: "A stream broke off", requestId: id, process: "api" }]);
  await product.booked();
  const receipt = await farebox("request", "show", account.id, id);
  expect(receipt).toMatchObject({ request: { id, model: "breaks" } });
  const charged = receipt.charged_usd;
  expect(Number(charged)).toBeGreaterThan(0);
  const { entries } = await farebox("account", "ledger", account.id);
  expect(entries[0]).toMatchObject({ kind: "charge", request_id: id, amount_usd: `-${charged}` });
  await eventually("the collector has the span", () => traces.includes(id), WITHIN_MS);
});

test("metrics of API and worker count the calls, and have every name of the list", async () => {
  await (await chat("ok")).text();
  expect((await chat("ok", "svc_live_unknown")).status).toBe(401);
  const [api, [worker]] = [product.api(0), product.workers];
  const counted = async () => ((await worker?.metric("farebox_tokens_total")) ?? 0) > 0;
  await eventually("the worker counted the call", counted, WITHIN_MS);
  const read = await api.metrics();
  for (const name of ["admit", "settle", "gateway", "upstream"]) {
    expect(read(`farebox_${name}_seconds_count`)).toBeGreaterThan(0);
    expect(read(`farebox_${name}_seconds_sum`)).toBeGreaterThan(0);
  }
  expect(read("farebox_refused_total")).toBe(1);
  expect(read("farebox_holds_usd")).toBe(0);
  const count = await worker?.metrics();
  expect(count?.("gen_ai_server_request_duration_count")).toBeGreaterThan(0);
  expect(count?.("farebox_ttft_seconds_count")).toBeGreaterThan(0);
  const texts = { api: await api.metricsText(), worker: await worker?.metricsText() };
  const payments = /topups|payment|disputes|owed/;
  for (const [name, { of }] of Object.entries(METRICS)) {
    if (payments.test(name)) continue;
    const has = of === "worker" ? texts.worker : texts.api;
    expect([name, has?.includes(`# TYPE ${name} `)]).toEqual([name, true]);
  }
});

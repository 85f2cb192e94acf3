// Keeps a fixed number of calls open for a fixed time and prints the results as JSON. The generator
// shares the machine with the measured program, so it sends requests in the way that takes the
// least CPU.

import { usd } from "../../src/core/money/money.ts";
import { HttpClient } from "../../src/upstream/http/http-client.ts";
import type { UpstreamResponse } from "../../src/upstream/upstream-response.ts";
import type { LoadPlan, LoadResult } from "./load.ts";
import { NumberedRequest, PlainCaller, requestBytes } from "./plain-caller.ts";
import { initOf, VARIANTS, variantsOf } from "./requests.ts";

const plan = JSON.parse(process.argv[2] ?? "") as LoadPlan;
const url = new URL(plan.url);
const client = new HttpClient({ monotonicMs: () => performance.now() });
const variants = variantsOf(plan, plan.callers);
const inits = variants.map(initOf);
const { numbered = null } = plan;
const requests = variants.map(({ body, headers }) =>
  numbered === null
    ? requestBytes(url, headers, body)
    : new NumberedRequest(url, { headers, body, numbered }),
);

const startMs = performance.now();
const timedFromMs = startMs + plan.rampMs;
const endMs = timedFromMs + plan.durationMs;
const latencies: number[] = [];
let calls = 0;
let events = 0;
let cost = 0n;
let failures = 0;
let firstFailure: string | null = null;

await Promise.all(Array.from({ length: plan.concurrency }, callUntilTheEnd));
latencies.sort((a, b) => a - b);
const result: LoadResult = {
  calls,
  failures,
  firstFailure,
  callsPerSecond: latencies.length / (plan.durationMs / 1000),
  p50Ms: percentile(0.5),
  p99Ms: percentile(0.99),
  events,
  costNano: cost.toString(),
};
console.log(JSON.stringify(result));
process.exit(0);

async function callUntilTheEnd(): Promise<void> {
  const caller = new PlainCaller(url);
  for (let beganMs = performance.now(); beganMs < endMs; beganMs = performance.now()) {
    const index = calls % VARIANTS;
    calls += 1;
    try {
      if (plan.stream) await openStream(index);
      else await call(caller, index);
    } catch (error) {
      failures += 1;
      firstFailure ??= String(error);
      await Bun.sleep(10);
      continue;
    }
    const nowMs = performance.now();
    if (nowMs >= timedFromMs && nowMs < endMs) latencies.push(nowMs - beganMs);
  }
}

async function call(caller: PlainCaller, index: number): Promise<void> {
  const request = requests[index];
  if (request === undefined) throw new Error(`There is no request ${index}`);
  const bytes = request instanceof NumberedRequest ? request.next() : request;
  const { status, costUsd, body: text } = await caller.call(bytes);
  if (status !== 200) throw new Error(`${status}: ${text}`);
  if (costUsd !== null) cost += usd(costUsd);
}

async function openStream(index: number): Promise<void> {
  const init = inits[index];
  if (init === undefined) throw new Error(`There is no request ${index}`);
  const response = await client.fetch(plan.url, init);
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  await readStream(response);
}

async function readStream(response: UpstreamResponse): Promise<void> {
  if (response.body === null) throw new Error("The stream has no body");
  let last: Buffer = Buffer.alloc(0);
  let lastButOne = last;
  let breaks = 0;
  for await (const { buffer, byteOffset, byteLength } of response.body) {
    lastButOne = last;
    last = Buffer.from(buffer, byteOffset, byteLength);
    for (let at = last.indexOf("\n\n"); at >= 0; at = last.indexOf("\n\n", at + 2)) breaks += 1;
  }
  const end = lastButOne.toString() + last.toString();
  const paid = /"cost_usd":([\d.]+)/.exec(end)?.[1];
  const isWhole =
    end.endsWith("data: [DONE]\n\n") || (paid !== undefined && plan.form !== undefined);
  if (!isWhole) throw new Error(`The stream broke off: ${end}`);
  events += breaks;
  if (paid !== undefined) cost += usd(paid);
}

function percentile(share: number): number {
  return latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
}

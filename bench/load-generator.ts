// Keeps a fixed number of calls open for a fixed time and prints the results as JSON. It shares the
// machine with what it measures, so it sends requests in the way that takes the least CPU.

import { usd } from "../src/core/money.ts";
import { HttpClient } from "../src/upstream/http-client.ts";
import type { UpstreamInit } from "../src/upstream/upstream-http.ts";
import type { UpstreamResponse } from "../src/upstream/upstream-response.ts";
import { callBody, type LoadPlan, type LoadResult } from "./load.ts";

const plan = JSON.parse(process.argv[2] ?? "") as LoadPlan;
const body = callBody(plan);
const client = new HttpClient({ monotonicMs: () => performance.now() });
const inits = plan.callers.map(
  (headers): UpstreamInit => ({
    method: "POST",
    headers: { "content-type": "application/json", "accept-encoding": "identity", ...headers },
    body,
    signal: null,
    redirect: "manual",
    timeout: false,
  }),
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
  for (let beganMs = performance.now(); beganMs < endMs; beganMs = performance.now()) {
    const init = inits[calls % inits.length];
    calls += 1;
    try {
      if (init !== undefined) await call(init);
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

async function call(init: UpstreamInit): Promise<void> {
  const response = await client.fetch(plan.url, init);
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  if (plan.stream) return await readStream(response);
  const paid = response.headers.get("x-svc-cost-usd");
  if (paid !== null) cost += usd(paid);
  await response.text();
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
  if (!end.endsWith("data: [DONE]\n\n")) throw new Error(`The stream broke off: ${end}`);
  events += breaks;
  const paid = /"cost_usd":([\d.]+)/.exec(end)?.[1];
  if (paid !== undefined) cost += usd(paid);
}

function percentile(share: number): number {
  return latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
}

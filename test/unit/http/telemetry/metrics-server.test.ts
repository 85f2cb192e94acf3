// Tests the address of /metrics: a named port is used or is an error, any other port may change.

import { expect, test } from "bun:test";
import { freePort } from "../../../../scripts/local/processes.mjs";
import { gauge } from "../../../../src/http/telemetry/metrics.ts";
import {
  createRegistry,
  MetricsPortTaken,
  serveMetrics,
} from "../../../../src/http/telemetry/metrics-server.ts";
import { loadServerConfig } from "../../../../src/settings/config.ts";
import { eventually } from "../../../support/eventually.ts";
import { silent } from "../../../support/fakes/silent-log.ts";
import { startProduct } from "../../../support/product/product.ts";
import { Program } from "../../../support/product/program.ts";

const SETTINGS = {
  REDIS_URL: "redis://127.0.0.1:1",
  DATABASE_URL: "postgres://127.0.0.1:1/none",
  KEY_PEPPER: "a pepper of sixteen",
  IP_HASH_SECRET: "a secret of sixteen",
};

const HOST = "127.0.0.1";
const registry = createRegistry("api");

test("a named port that is taken is an error that names variable and port", async () => {
  using other = Bun.serve({ port: 0, hostname: HOST, fetch: () => new Response("other") });
  const named = { host: HOST, port: other.port ?? 0, isNamed: true };
  expect(() => serveMetrics(registry, named, silent)).toThrow(MetricsPortTaken);
  expect(() => serveMetrics(registry, named, silent)).toThrow(
    `METRICS_PORT ${other.port} cannot be listened on at 127.0.0.1 ` +
      `(Failed to start server. Is port ${other.port} in use?). Set it to a free port.`,
  );
});

test("a default port that is taken gives way to a free one", async () => {
  using other = Bun.serve({ port: 0, hostname: HOST, fetch: () => new Response("other") });
  const metrics = serveMetrics(
    registry,
    { host: HOST, port: other.port ?? 0, isNamed: false },
    silent,
  );
  expect(metrics.port).not.toBe(other.port ?? 0);
  await metrics.stop();
});

test("a store that hangs does not affect other metrics, and is read once meanwhile", async () => {
  const own = createRegistry("worker");
  let answer = Promise.withResolvers<number>();
  let asked = 0;
  const read = async () => {
    asked += 1;
    return await answer.promise;
  };
  gauge(own, "farebox_disputes_open", { read, log: silent, waitMs: 20 });
  gauge(own, "farebox_service_mails_waiting", { read: () => 3, log: silent });
  const metrics = serveMetrics(own, { host: HOST, port: 0, isNamed: false }, silent);
  const shown = async () => {
    const text = await (await fetch(`http://${HOST}:${metrics.port}/metrics`)).text();
    return [...text.matchAll(/^farebox_(disputes|service)\S* (\d+)$/gm)].map(
      ([, , value]) => value,
    );
  };
  answer.resolve(7);
  expect([await shown(), asked]).toEqual([["7", "3"], 1]);
  answer = Promise.withResolvers();
  expect([await shown(), await shown(), asked]).toEqual([["7", "3"], ["7", "3"], 2]);
  answer.resolve(8);
  await eventually("it shows what the store answers then", async () => {
    return (await shown()).join() === "8,3";
  });
  await metrics.stop();
});

test("METRICS_HOST is the address to listen on, and METRICS_PORT counts as named", () => {
  const { metrics } = loadServerConfig(9464, SETTINGS);
  expect(metrics).toEqual({ host: "127.0.0.1", port: 9464, isNamed: false });
  const env = { ...SETTINGS, METRICS_HOST: "0.0.0.0", METRICS_PORT: "9999" };
  expect(loadServerConfig(9464, env).metrics).toEqual({
    host: "0.0.0.0",
    port: 9999,
    isNamed: true,
  });
});

test("an API whose named metrics port is taken does not start, and reports it", async () => {
  await using product = await startProduct({ apis: 1, workers: 0 });
  using other = Bun.serve({ port: 0, hostname: HOST, fetch: () => new Response("other") });
  const { options } = product.api(0);
  const logFile = `${options.logFile}.second`;
  const second = new Program({ ...options, logFile });
  const env = { PORT: String(await freePort()), METRICS_PORT: String(other.port) };
  await expect(second.start({ env })).rejects.toThrow(
    `METRICS_PORT ${other.port} cannot be listened on`,
  );
  const last = (await Bun.file(logFile).text()).trimEnd().split("\n").at(-1);
  expect(last).toStartWith("METRICS_PORT");
});

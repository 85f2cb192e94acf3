// GET /metrics for Prometheus, on its own port that callers cannot reach.

import { collectDefaultMetrics, Registry } from "prom-client";
import { ERRORS, OK } from "../core/errors.ts";
import type { Log } from "../core/log.ts";

/** A registry with metrics of the process itself. */
export function createRegistry(process: "api" | "worker"): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ process });
  collectDefaultMetrics({ register: registry });
  return registry;
}

export interface MetricsServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** Serves a registry. If the port is taken, uses any free one: that must not stop the program. */
export function serveMetrics(registry: Registry, port: number, log: Log): MetricsServer {
  const server = listen(registry, port, log);
  log.info({ port: server.port }, "Metrics are served");
  return { port: server.port ?? 0, stop: () => server.stop(true) };
}

function listen(registry: Registry, port: number, log: Log): Bun.Server<undefined> {
  const options = {
    hostname: "127.0.0.1",
    async fetch(request: Request): Promise<Response> {
      const { pathname } = new URL(request.url, "http://metrics");
      if (pathname !== "/metrics") {
        return new Response("Not found", { status: ERRORS.not_found.status });
      }
      const headers = { "content-type": registry.contentType };
      return new Response(await registry.metrics(), { status: OK, headers });
    },
  };
  try {
    return Bun.serve({ ...options, port });
  } catch (error) {
    log.warn({ port, err: error }, "The metrics port is taken; another one is used");
    return Bun.serve({ ...options, port: 0 });
  }
}

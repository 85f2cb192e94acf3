// Serves GET /metrics for Prometheus, on its own port that callers cannot reach.

import { collectDefaultMetrics, Registry } from "prom-client";
import project from "../../../package.json";
import { ERRORS, OK } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { StartError } from "../../core/start-error.ts";
import { thrownMessage } from "../../core/text/error-message.ts";
import { info } from "./metrics.ts";

/** A registry with metrics of the process itself. */
export function createRegistry(process: "api" | "worker"): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ process });
  collectDefaultMetrics({ register: registry });
  info(registry, "farebox_build_info", { version: project.version, runtime: `bun ${Bun.version}` });
  return registry;
}

export interface MetricsServer {
  readonly port: number;
  stop(): Promise<void>;
}

export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
  /** True if an operator named the port. */
  readonly isNamed: boolean;
}

/** The port that an operator named is taken; the message is for the operator. */
export class MetricsPortTaken extends StartError {
  override readonly name = "MetricsPortTaken";
}

/**
 * Serves a registry. If the port is taken and no operator named it, any free port serves.
 * @throws MetricsPortTaken
 */
export function serveMetrics(registry: Registry, address: MetricsAddress, log: Log): MetricsServer {
  const server = listen(registry, address, log);
  log.info({ host: address.host, port: server.port }, "Metrics are served");
  return { port: server.port ?? 0, stop: () => server.stop(true) };
}

function listen(
  registry: Registry,
  { host, port, isNamed }: MetricsAddress,
  log: Log,
): Bun.Server<undefined> {
  const options = {
    hostname: host,
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
  } catch (cause) {
    if (isNamed) {
      const why = thrownMessage(cause);
      throw new MetricsPortTaken(
        `METRICS_PORT ${port} cannot be listened on at ${host} (${why}). Set it to a free port.`,
        { cause },
      );
    }
    log.warn({ host, port, err: cause }, "The metrics port is taken; another one is used");
    return Bun.serve({ ...options, port: 0 });
  }
}

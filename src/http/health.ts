import { UnknownLayout } from "../../actors/records/layouts.ts";
import type { Clock } from "../core/clock.ts";
import { ERRORS, OK } from "../core/errors.ts";
import { RedisNotWritable } from "../store/servers/redis-check.ts";
import { Draining } from "./drain.ts";
import { plainEndpoint } from "./endpoint.ts";
import { oneOf, Type } from "./schema.ts";

/** Resolves if a dependency of the service is available; rejects if it is not. */
export type ReadinessCheck = () => Promise<unknown>;

/**
 * Problems that need an operator although calls are served: each function returns its problem, or
 * null.
 */
export type HealthWarnings = Readonly<Record<string, () => Promise<string | null>>>;

/** The shared versions that this process runs; 0 if it runs none. */
export interface SharedVersions {
  readonly configuration: number;
  readonly documents: number;
}

export interface HealthDeps {
  readonly checks: Readonly<Record<string, ReadinessCheck>>;
  readonly versions: () => SharedVersions;
  readonly warnings?: HealthWarnings;
  readonly clock: Pick<Clock, "after">;
}

const CHECK_MS_MAX = 2_000;

const version = (description: string) => Type.Integer({ minimum: 0, description });

export const healthz = plainEndpoint({
  id: "getHealth",
  method: "GET",
  path: "/healthz",
  summary: "Say that the process runs",
  reply: Type.Object({ status: Type.Literal("ok") }),
  examples: [{ summary: "It runs", reply: { status: "ok" } }],
  run: () => Response.json({ status: "ok" }),
});

export const readyz = plainEndpoint({
  id: "getReadiness",
  method: "GET",
  path: "/readyz",
  summary: "Say whether paid calls can be served",
  description:
    "`degraded` where they can and somebody must look at what `warnings` says; 503 with the same " +
    "shape if they cannot be.",
  reply: Type.Object({
    status: oneOf(["ok", "degraded", "unavailable"]),
    checks: Type.Record(Type.String(), Type.String()),
    warnings: Type.Record(Type.String(), Type.String()),
    versions: Type.Object(
      { configuration: version("0 for its own file"), documents: version("0 for none") },
      { description: "What this process runs of what all processes share" },
    ),
  }),
  examples: [
    {
      summary: "It can",
      reply: {
        status: "ok",
        checks: { redis: "ok" },
        warnings: {},
        versions: { configuration: 3, documents: 12 },
      },
    },
  ],
  async run(deps: HealthDeps) {
    const { checks, warnings } = await currentHealth(deps);
    const versions = deps.versions();
    if (Object.values(checks).some((state) => state !== "ok")) {
      const { status } = ERRORS.service_unavailable;
      return Response.json({ status: "unavailable", checks, warnings, versions }, { status });
    }
    const isDegraded = Object.keys(warnings).length > 0;
    const answer = { status: isDegraded ? "degraded" : "ok", checks, warnings, versions };
    return Response.json(answer, { status: OK });
  },
});

interface Health {
  readonly checks: Record<string, string>;
  readonly warnings: Record<string, string>;
}

/** The readings in progress. */
const readings = new WeakMap<HealthDeps, Promise<Health>>();

/**
 * Reads the stores once for all requests that arrive meanwhile: an answer is 2 s old at most
 * (D-156).
 */
function currentHealth(deps: HealthDeps): Promise<Health> {
  const current = readings.get(deps);
  if (current !== undefined) return current;
  const started = readHealth(deps).finally(() => readings.delete(deps));
  readings.set(deps, started);
  return started;
}

async function readHealth(deps: HealthDeps): Promise<Health> {
  const [checks, warnings] = await Promise.all([runChecks(deps), runWarnings(deps)]);
  return { checks, warnings };
}

async function runChecks({ checks, clock }: HealthDeps): Promise<Record<string, string>> {
  const states = Object.entries(checks).map(async ([name, check]) => {
    return [name, await stateOf(() => check().then(() => "ok"), clock)] as const;
  });
  return Object.fromEntries(await Promise.all(states));
}

/** Returns only the warnings that apply. Checks, not warnings, report a store that is away. */
async function runWarnings({ warnings = {}, clock }: HealthDeps): Promise<Record<string, string>> {
  const texts = Object.entries(warnings).map(async ([name, read]) => {
    return [name, await stateOf(async () => (await read()) ?? "", clock)] as const;
  });
  return Object.fromEntries((await Promise.all(texts)).filter(([, text]) => text !== ""));
}

async function stateOf(read: () => Promise<string>, clock: HealthDeps["clock"]): Promise<string> {
  const late = Promise.withResolvers<string>();
  const callOff = clock.after(CHECK_MS_MAX, () => late.resolve("late"));
  try {
    return await Promise.race([read(), late.promise]);
  } catch (error) {
    const isInWords = [UnknownLayout, RedisNotWritable, Draining].some((of) => error instanceof of);
    return isInWords && error instanceof Error ? error.message : "failed";
  } finally {
    callOff();
  }
}

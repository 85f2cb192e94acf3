import { Elysia } from "elysia";
import type { Clock } from "../core/clock.ts";
import { ERRORS, OK } from "../core/errors.ts";

/** Resolves when a part that the service needs is there; rejects when it is not. */
export type ReadinessCheck = () => Promise<unknown>;

export interface HealthDeps {
  readonly checks: Readonly<Record<string, ReadinessCheck>>;
  readonly clock: Clock;
}

const CHECK_MS_MAX = 2_000;

/** GET /healthz: the process runs. GET /readyz: it can serve paid calls. */
export function health(deps: HealthDeps) {
  return new Elysia({ name: "gateway/health" })
    .get("/healthz", () => Response.json({ status: "ok" }))
    .get("/readyz", async () => {
      const checks = await runChecks(deps);
      const ready = Object.values(checks).every((state) => state === "ok");
      const status = ready ? OK : ERRORS.service_unavailable.status;
      return Response.json({ status: ready ? "ok" : "unavailable", checks }, { status });
    });
}

async function runChecks(deps: HealthDeps): Promise<Record<string, string>> {
  const states = Object.entries(deps.checks).map(async ([name, check]) => {
    return [name, await stateOf(check, deps.clock)] as const;
  });
  return Object.fromEntries(await Promise.all(states));
}

async function stateOf(check: ReadinessCheck, clock: Clock): Promise<string> {
  const late = Promise.withResolvers<string>();
  const callOff = clock.after(CHECK_MS_MAX, () => late.resolve("late"));
  try {
    return await Promise.race([check().then(() => "ok"), late.promise]);
  } catch {
    return "failed";
  } finally {
    callOff();
  }
}

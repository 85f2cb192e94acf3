// Opens the tracer of a process that has traces. Other processes do not even load its packages.

import type { CallTracerOptions, OpenCallTracer } from "./call-tracer.ts";

type Shared = Pick<CallTracerOptions, "version" | "clock"> & {
  readonly log: CallTracerOptions["log"] & { info(fields: object, message: string): void };
};

/** Undefined if traces are off. */
export async function openTracer(
  traces: Omit<CallTracerOptions, keyof Shared> | null,
  shared: Shared,
): Promise<OpenCallTracer | undefined> {
  if (traces === null) return undefined;
  const { openCallTracer } = await import("./call-tracer.ts");
  // The other parts of the address may have a password or a token.
  const { host: collector } = new URL(traces.url);
  shared.log.info({ collector, ratio: traces.ratio }, "Calls are traced");
  return openCallTracer({ ...traces, ...shared });
}

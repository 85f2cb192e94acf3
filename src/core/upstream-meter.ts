// Defines the metrics of requests to providers.

/**
 * The result of a request to a provider. `refused`: the provider blames the request; `access`: it
 * refuses the operator's key or account.
 */
export type UpstreamResult = "ok" | "failed" | "unreachable" | "refused" | "access" | "aborted";

export interface UpstreamMeter {
  /** Counts one request, and the seconds until its answer. */
  attempted(provider: string, result: UpstreamResult, seconds: number): void;
  /** Counts a stream that broke off after it had begun, when it counted as answered. */
  brokeOff(provider: string, result: Exclude<UpstreamResult, "ok" | "aborted">): void;
}

// Defines the metrics of requests to providers.

/** The result of a request to a provider; `refused`: the provider blames the request. */
export type UpstreamResult = "ok" | "failed" | "unreachable" | "refused" | "aborted";

export interface UpstreamMeter {
  /** Counts one request, and the seconds until its answer. */
  attempted(provider: string, result: UpstreamResult, seconds: number): void;
}

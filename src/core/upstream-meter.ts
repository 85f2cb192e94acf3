// What the way to providers tells the metrics of its process.

/** How a request to a provider ended; `refused`: the provider blames the request. */
export type UpstreamResult = "ok" | "failed" | "unreachable" | "refused" | "aborted";

export interface UpstreamMeter {
  /** One request, and how long it took to answer. */
  attempted(provider: string, result: UpstreamResult, seconds: number): void;
}

// Makes OpenTelemetry spans of calls: one of ours, and one of the provider's. Spans are made after
// a call has ended, from its recorded times, so that a stream is never slowed down; spans never
// have content. Only a process with traces loads this file, and the packages with it.

import {
  type Attributes,
  type Context,
  diag,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { CallTerms, Hold, Outcome } from "../../../actors/account.ts";
import type { Call, CallTracer } from "../../calls/call.ts";
import { isGenerative, serviceOfScope } from "../../core/access/services.ts";
import type { Clock } from "../../core/clock.ts";
import { type ApiError, ERRORS } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { NanoUsd } from "../../core/money/money.ts";
import { cacheWriteTokens, type Part, partName, type UsageParts } from "../../core/money/usage.ts";

export interface CallTracerOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly followsCallers: boolean;
  readonly ratio: number;
  readonly serviceName: string;
  readonly version: string;
  readonly clock: Pick<Clock, "now" | "monotonicMs">;
  readonly log: Pick<Log, "warn">;
}

export interface OpenCallTracer extends CallTracer {
  /** Sends the waiting spans. */
  close(): Promise<void>;
}

interface Admitted {
  readonly call: Call;
  readonly terms: CallTerms;
}

const TRACEPARENT = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:-|$)/;
const NANO_PER_USD = 1e9;
const SERVER_ERROR = 500;
const FAILURE_CHARACTERS_MAX = 200;
/** The end of the process waits this long for the last spans. */
const CLOSE_MS = 5_000;

/** Begins to trace calls; connects to the collector only for the first spans. */
export function openCallTracer(options: CallTracerOptions): OpenCallTracer {
  const { serviceName, version, log, clock } = options;
  const tell = (reason: string) => log.warn({ reason }, "Calls were not traced");
  const none = () => {};
  diag.setLogger(
    { debug: none, info: none, verbose: none, warn: tell, error: tell },
    { suppressOverrideMessage: true },
  );
  const processor = new BatchSpanProcessor({ exporter: exporterOf(options, tell) });
  const provider = new TracerProvider({
    sampler: samplerOf(options),
    resource: resourceFromAttributes({ "service.name": serviceName, "service.version": version }),
    spanProcessors: [processor],
  });
  const tracer = provider.getTracer("farebox", version);
  const spans = { tracer, clock };
  const admitted = new WeakMap<Hold, Admitted>();
  return {
    contextOf: (headers) => headers.get("traceparent"),
    admitted: (call, terms, hold) => void admitted.set(hold, { call, terms }),
    refused: (call, terms, error) => refusedSpan(spans, { call, terms }, error),
    ended(hold, outcome, charged) {
      const known = admitted.get(hold);
      if (known === undefined) return;
      admitted.delete(hold);
      endedSpans(spans, known, { hold, outcome, charged });
    },
    async close() {
      await Promise.race([provider.shutdown(), Bun.sleep(CLOSE_MS)]);
    },
  };
}

/**
 * Wraps the OTLP exporter, and reports its failures here without the error, which contains the
 * collector's whole answer. The processor sees every export succeed, because it drops the spans in
 * any case; after a failure it would send several batches at once, and end with that error.
 */
function exporterOf(
  { url, headers }: CallTracerOptions,
  tell: (failure: string) => void,
): SpanExporter {
  const exporter = new OTLPTraceExporter({ url, headers: { ...headers } });
  return {
    export(spans, done) {
      exporter.export(spans, ({ error }) => {
        if (error !== undefined) tell(`spans were not taken: ${failureText(error)}`);
        done({ code: 0 });
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}

/** Returns the status of an answer and its words, or why no answer came. */
function failureText(error: Error): string {
  const code = "code" in error ? error.code : undefined;
  return [code, error.message].filter(Boolean).join(" ").slice(0, FAILURE_CHARACTERS_MAX);
}

function samplerOf({ ratio, followsCallers }: CallTracerOptions) {
  const root = new TraceIdRatioBasedSampler(ratio);
  return followsCallers ? new ParentBasedSampler({ root }) : root;
}

/** Returns the caller's trace, if the header has W3C's form. */
function parentOf({ traceparent }: Call): Context {
  const [, traceId, spanId, flags = "00"] = TRACEPARENT.exec(traceparent ?? "") ?? [];
  if (traceId === undefined || spanId === undefined) return ROOT_CONTEXT;
  const isSampled = (Number.parseInt(flags, 16) & TraceFlags.SAMPLED) !== 0;
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

interface SpanDeps extends Pick<CallTracerOptions, "clock"> {
  readonly tracer: Tracer;
}

function refusedSpan(
  { tracer, clock }: SpanDeps,
  { call, terms }: Admitted,
  error: ApiError,
): void {
  const { startMs, nowMs } = timesOf(clock, call);
  const span = tracer.startSpan(
    call.endpoint,
    { kind: SpanKind.SERVER, startTime: startMs },
    parentOf(call),
  );
  if (span.isRecording()) {
    span.setAttributes({
      ...requestAttributes(call, terms, ERRORS[error.code].status),
      "farebox.refusal": error.code,
      "error.type": error.code,
    });
  }
  span.end(nowMs);
}

interface Ended {
  readonly hold: Hold;
  readonly outcome: Outcome;
  readonly charged: NanoUsd;
}

function endedSpans(
  { tracer, clock }: SpanDeps,
  { call, terms }: Admitted,
  { hold, outcome, charged }: Ended,
): void {
  const { startMs, nowMs } = timesOf(clock, call);
  const parent = parentOf(call);
  const server = tracer.startSpan(
    call.endpoint,
    { kind: SpanKind.SERVER, startTime: startMs },
    parent,
  );
  if (!server.isRecording()) return;
  const { status, errorCode } = outcome;
  const error = errorCode === null ? {} : { "error.type": errorCode };
  server.setAttributes({
    ...requestAttributes(call, terms, status),
    ...error,
    "farebox.hold_usd": Number(hold.amount) / NANO_PER_USD,
    "farebox.cost_usd": Number(charged) / NANO_PER_USD,
  });
  if (status >= SERVER_ERROR) server.setStatus({ code: SpanStatusCode.ERROR });
  if (call.upstreamFromMs !== null) {
    const model = outcome.model ?? terms.model;
    const fromMs = startMs + (call.upstreamFromMs - call.arrivedMs);
    const client = tracer.startSpan(
      `${serviceOfScope(terms.service)}${model === null ? "" : ` ${model}`}`,
      { kind: SpanKind.CLIENT, startTime: fromMs },
      trace.setSpan(parent, server),
    );
    client.setAttributes({ ...upstreamAttributes(terms, outcome), ...error });
    if (errorCode !== null) client.setStatus({ code: SpanStatusCode.ERROR });
    // A stream is read until the call ends.
    client.end(outcome.firstTokenMs === null ? fromMs + call.upstreamMs : nowMs);
  }
  server.end(nowMs);
}

/** Returns the call's arrival and the present, by the clock of this machine. */
function timesOf(clock: CallTracerOptions["clock"], call: Call) {
  const nowMs = clock.now();
  return { startMs: nowMs - (clock.monotonicMs() - call.arrivedMs), nowMs };
}

function requestAttributes(call: Call, { service }: CallTerms, status: number): Attributes {
  return {
    "http.route": call.endpoint,
    "http.response.status_code": status,
    "farebox.request_id": call.requestId,
    "farebox.service": service,
  };
}

/** Follows the conventions for generative AI; input tokens include cached ones. */
function upstreamAttributes(terms: CallTerms, outcome: Outcome): Attributes {
  const { lane, model, promptTokens, cachedTokens, completionTokens, firstTokenMs } = outcome;
  const { usageDetails = {} } = outcome;
  const { more, reasoning, tier, source } = usageDetails;
  const written = cacheWriteTokens(more);
  if (!isGenerative(terms.service))
    return { "farebox.service": terms.service, ...(lane && { "farebox.provider": lane }) };
  return {
    // The name of our service is the operation of the conventions.
    "gen_ai.operation.name": serviceOfScope(terms.service),
    ...(lane !== undefined && { "gen_ai.provider.name": lane }),
    ...(terms.model !== null && { "gen_ai.request.model": terms.model }),
    ...(model !== undefined && { "gen_ai.response.model": model }),
    "gen_ai.usage.input_tokens": promptTokens,
    "gen_ai.usage.cache_read.input_tokens": cachedTokens,
    ...(written > 0 && { "gen_ai.usage.cache_creation.input_tokens": written }),
    ...partAttributes(usageDetails),
    ...(tier !== undefined && { "farebox.service_tier": tier }),
    ...(source !== undefined && { "farebox.usage_source": source }),
    "gen_ai.usage.output_tokens": completionTokens,
    ...(reasoning !== undefined && { "gen_ai.usage.reasoning.output_tokens": reasoning }),
    ...(firstTokenMs !== null && { "gen_ai.response.time_to_first_chunk": firstTokenMs / 1_000 }),
  };
}

/** The parts of the tokens and the calls of tools for which the conventions have no name. */
function partAttributes({ more = {}, fees = {} }: UsageParts): Attributes {
  const attributes: Attributes = {};
  for (const [part, count] of Object.entries(more)) {
    attributes[`farebox.usage.${partName(part as Part)}_tokens`] = count;
  }
  for (const [fee, { calls, queries }] of Object.entries(fees)) {
    attributes[`farebox.usage.${fee}_calls`] = calls;
    attributes[`farebox.usage.${fee}_queries`] = queries;
  }
  return attributes;
}

// Defines and combines the environment variables of traces, under OpenTelemetry's own names.

import { ConfigError, type Values, type Variables } from "./environment.ts";
import { anyText, choice, webAddress } from "./variable-kinds.ts";

const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)=([\x20-\x7e]*)$/;

/** The variables of traces. */
export const TRACE_VARIABLES = {
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    kind: webAddress,
    about:
      "where traces are sent by OTLP over HTTP, such as `http://collector:4318`; without it " +
      "there are none",
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    kind: anyText,
    isSecret: true,
    about: "headers sent along, such as `authorization=Basic abc`, joined with commas",
  },
  OTEL_TRACES_SAMPLER: {
    kind: choice(["parentbased_traceidratio", "traceidratio"]),
    default: "parentbased_traceidratio",
    about:
      "whether the caller's `traceparent` decides which calls are traced; with `traceidratio` " +
      "callers have no say",
  },
  OTEL_TRACES_SAMPLER_ARG: {
    kind: {
      range: "0 to 1",
      parse(text: string): number {
        const ratio = Number(text);
        if (/^\d*\.?\d+$/.test(text) && ratio <= 1) return ratio;
        throw new RangeError("must be a number from 0 to 1");
      },
    },
    default: "0.01",
    about: "the part of the other calls that is traced",
  },
  OTEL_SERVICE_NAME: {
    kind: anyText,
    default: "farebox",
    about: "what traces call this service",
  },
} as const satisfies Variables;

export interface TraceConfig {
  /** The address that spans are posted to. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** True if the caller's trace decides about its calls. */
  readonly followsCallers: boolean;
  /** A number from 0 to 1. */
  readonly ratio: number;
  readonly serviceName: string;
}

/** Combines the values of the variables; null: traces are off. */
export function traceConfigOf(values: Values<typeof TRACE_VARIABLES>): TraceConfig | null {
  const endpoint = values.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === null) return null;
  return Object.freeze({
    url: `${endpoint.href.replace(/\/+$/, "")}/v1/traces`,
    headers: headersOf(values.OTEL_EXPORTER_OTLP_HEADERS ?? ""),
    followsCallers: values.OTEL_TRACES_SAMPLER === "parentbased_traceidratio",
    ratio: values.OTEL_TRACES_SAMPLER_ARG,
    serviceName: values.OTEL_SERVICE_NAME,
  });
}

/** Values may be percent-encoded (OpenTelemetry). */
function headersOf(text: string): Readonly<Record<string, string>> {
  const headers = text.split(",").filter((part) => part.trim() !== "");
  return Object.fromEntries(
    headers.map((part) => {
      const [, name = "", value = ""] = HEADER.exec(part.trim()) ?? [];
      // The message never repeats the value itself.
      if (name === "") throw new ConfigError("OTEL_EXPORTER_OTLP_HEADERS must be name=value,…");
      return [name.toLowerCase(), decoded(value)];
    }),
  );
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    // A value with a lone percent sign is taken literally.
    return value;
  }
}

// The form of a vector: a provider's reply, the prices of its model, and the bill that both must
// give. The recorded replies beside the repository have the same form.

export type Json = Readonly<Record<string, unknown>>;

export interface VectorRow {
  readonly when?: Json;
  readonly per_million: Readonly<Record<string, string>>;
  readonly per_thousand_calls?: Readonly<Record<string, string>>;
}

export interface VectorUsage {
  readonly calls?: Readonly<Record<string, number>>;
  readonly reasoning?: number;
  readonly [part: string]: unknown;
}

export interface Attempt {
  readonly served_model: string;
  readonly billed: boolean;
  readonly row: number;
  readonly usage: VectorUsage;
}

export interface Vector {
  readonly id: string;
  readonly provider: string;
  readonly api: string;
  readonly shape: string;
  readonly model: string;
  readonly rules: readonly string[];
  readonly admitted_at?: string;
  readonly response_form: "json" | "sse" | "json-lines" | "eventstream-base64";
  readonly response: unknown;
  readonly prices?: { readonly rows?: readonly VectorRow[] };
  readonly expected: {
    readonly usage: VectorUsage | null;
    readonly attempts?: readonly Attempt[];
    readonly tier: string;
    readonly speed: string;
    readonly geo?: string | null;
    readonly served_model: string;
    readonly row?: number;
    readonly cost: string | null;
    readonly billed?: boolean;
    readonly reported_cost: string | null;
  };
}

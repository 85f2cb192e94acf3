// The interface between the one adapter for provider packages and the form of each provider.

import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { Json } from "../../../../core/text/json.ts";
import type { UpstreamCall } from "../protocol.ts";
import type { RawUsageReader } from "./sdk-usage.ts";

/** The platform's `fetch`, as the packages call it. */
export type SdkFetch = typeof globalThis.fetch;

/** Options of one package, in addition to those that all packages share. */
export interface OwnOptions {
  readonly options?: Partial<LanguageModelV4CallOptions>;
  /** The names of our parameters that these options carry. */
  readonly takes?: readonly string[];
  /** The names of our parameters that have no effect with this request. */
  readonly ignored?: readonly string[];
}

/** The use of a provider's package. */
export interface SdkForm {
  /**
   * The package's name for its own options and metadata. Callers see `extraName` instead, in
   * `extra_content` of tool calls.
   */
  readonly optionsName: string;
  readonly extraName: string;
  /** True if system messages may stand anywhere; otherwise they are moved to the beginning. */
  readonly takesLaterSystem: boolean;
  /** True if the form takes OpenAI's `detail` of images. */
  readonly takesDetail?: boolean;
  /** The fields of the package's metadata that a provider needs again, by our names for them. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Loads the package at its first use. The model sends its request by `fetch`. */
  open(
    call: Pick<UpstreamCall, "provider" | "model" | "fetch">,
    fetch: SdkFetch,
  ): Promise<LanguageModelV4>;
  own?(call: UpstreamCall): Promise<OwnOptions> | OwnOptions;
  /** Fields of the body that the package leaves out for models that it does not know. */
  fields?(call: UpstreamCall): Json;
  readonly usage: RawUsageReader;
  /** The model that served, in a body of a provider whose package does not read it. */
  servedModel?(body: Json): string | null;
  /** The limit of output tokens in a request's body. */
  limitOf(body: Json): unknown;
}

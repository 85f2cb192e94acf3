// Decides which words of a server's refusal its caller may read: never words that reveal the
// server.

import { ApiError } from "../../../../core/errors.ts";
import type { ProviderEntry } from "../../models/catalogue.ts";
import { CHAT_FIELDS, fieldDoes, type RefusedFields } from "../../refused-fields.ts";
import type { ReplyError } from "./reply-error.ts";

/** A call that a server may refuse. */
export interface RefusedCall {
  readonly provider: ProviderEntry;
  /** The name of the model on that server. */
  readonly model: string;
  /** The id by which callers know it. */
  readonly publicId: string;
  /** The fields of the caller's form; left out: those of chat completions. */
  readonly fields?: Pick<RefusedFields, "prompt">;
}

const ERROR_MESSAGE_MAX = 500;
/** Text that must not reach a caller: addresses, accounts, keys. */
const REVEALING =
  /:\/\/|@|\b\d{1,3}(?:\.\d{1,3}){3}\b|\bsk-\w|\b(?:org|proj|key|acct)[-_](?=\w*\d)\w{6}/i;

/** The upstream's message about an invalid request, unless it reveals the upstream. */
export function callerFault(error: ReplyError | null, call: RefusedCall): ApiError {
  const original = error?.message ?? "";
  const message = original.replace(/\s+/g, " ").trim().slice(0, ERROR_MESSAGE_MAX);
  const detail = message === "" || revealsUpstream(message, call) ? "" : `: ${message}`;
  if (error?.isContextFull !== true) {
    const isContentRefusal = error?.isContentRefusal ?? false;
    const text = `The model did not accept this request${detail}`;
    return new ApiError("invalid_parameter", text, { isContentRefusal });
  }
  const { prompt: param } = call.fields ?? CHAT_FIELDS;
  const problem = `${fieldDoes(param, "exceed")} the model's maximum context length${detail}`;
  return new ApiError("context_length_exceeded", problem, { param });
}

function revealsUpstream(message: string, { provider, model, publicId }: RefusedCall): boolean {
  const { apiKey, baseUrl, name } = provider;
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : baseUrl;
  // Parts of the host reveal it too, such as "openai" of api.openai.com.
  const labels = host.split(".").slice(0, -1);
  const secrets = [apiKey ?? "", name, host, ...labels.filter((label) => label.length > 3)];
  // A short name may be part of any word.
  if (model.length > 3 && !publicId.includes(model)) secrets.push(model);
  const lower = message.toLowerCase();
  return (
    REVEALING.test(message) ||
    secrets.some((secret) => secret !== "" && lower.includes(secret.toLowerCase()))
  );
}

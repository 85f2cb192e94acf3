// Reads the common parts of a checked body of both doors: the model, the parameters that only some
// servers know, and `svc` of the reply.

import type { Settlement } from "../../../../../actors/account.ts";
import type { Json } from "../../../../core/text/json.ts";
import { copyJson } from "../../../../http/body/checks.ts";
import { svcOf } from "../../../../http/svc.ts";
import type { ModelEntry, OtherUse } from "../../models/catalogue.ts";
import { noteModel } from "../../models/noted-model.ts";
import { unsupportedFields } from "../../protocols/chat-extras.ts";
import type { SvcMembers } from "../../served-model.ts";
import type { ChatContext } from "../completions/answer-chat.ts";
import { modelFor } from "../completions/chat-request.ts";
import type { VectorCall } from "./vector-call.ts";

/** The terms of a surface. */
export interface SurfaceTerms {
  /** Further members of `svc`; null for none. */
  readonly svcMembers: SvcMembers | null;
}

/** The model of a call, and the fields that are not of the door itself. */
export interface ChosenVectors extends Pick<VectorCall<unknown>, "model" | "offered"> {
  /** Parameters that the model is configured to take. */
  readonly extras: Json;
  /** Names of fields that have no effect. */
  readonly ignored: readonly string[];
}

interface VectorFields extends Json {
  readonly model: string;
}

/** The model that a body names. Throws `model_not_found` or `model_unavailable`. */
export function chooseVectors(
  context: ChatContext,
  fields: VectorFields,
  { use, unknown }: { readonly use: OtherUse; readonly unknown: readonly string[] },
): ChosenVectors {
  const { pauses } = context.deps;
  const catalogue = context.deps.catalogue();
  noteModel(context, catalogue, fields.model);
  const model = modelFor(use, fields.model, { catalogue, pauses });
  const ignored = unsupportedFields(model, unknown);
  const accepted = unknown.filter((name) => !ignored.includes(name));
  const extras = accepted.map((name) => [name, copyJson(fields[name])] as const);
  return { model, offered: catalogue.models, extras: Object.fromEntries(extras), ignored };
}

/** The field `svc` of a reply. */
export function vectorSvc(
  { call }: Pick<ChatContext, "call">,
  {
    model,
    ignored,
    svcMembers,
  }: SurfaceTerms & { readonly model: ModelEntry; readonly ignored: readonly string[] },
  settlement: Settlement,
): object {
  return {
    ...svcOf(call.requestId, settlement),
    ...svcMembers?.({ model, tried: [model] }, settlement),
    ...(ignored.length > 0 && { ignored }),
  };
}

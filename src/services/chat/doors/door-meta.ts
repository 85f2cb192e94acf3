// The field `svc` in the replies of all doors but chat completions.

import type { Settlement } from "../../../../actors/account.ts";
import type { Call } from "../../../calls/call.ts";
import { svcOf } from "../../../http/svc.ts";
import type { ChatCall } from "../chat-admission.ts";
import type { AnsweringModel, ServedBy, SvcMembers } from "../served-model.ts";

/** A call of a door, with the parts of the request that its answer depends on. */
export interface DoorCall extends ChatCall {
  /** Names of parts of the request that have no effect. */
  readonly ignored: readonly string[];
}

export interface DoorMeta {
  readonly call: Pick<Call, "requestId">;
  readonly served: AnsweringModel;
  /** Names of parts of the request that had no effect. */
  readonly ignored: readonly string[];
  /** Adds members to `svc`; null if there are none. */
  readonly svcMembers: SvcMembers | null;
}

const NAME_LENGTH_MAX = 100;

/** A name that a caller chose freely, as short as `svc.ignored` repeats it. */
export function shortName(name: string): string {
  return name.slice(0, NAME_LENGTH_MAX);
}

/** The facts for the reply of this route. */
export function metaOf(
  { call }: { readonly call: Call },
  { ignored, svcMembers }: DoorCall,
  served: ServedBy,
): DoorMeta {
  const { ignored: lost = [] } = served.route;
  return { call, served, ignored: [...new Set([...ignored, ...lost])], svcMembers };
}

/** The field `svc` of a reply. */
export function svcIn(meta: DoorMeta, settlement: Settlement): object {
  const { call, served, ignored, svcMembers } = meta;
  return {
    ...svcOf(call.requestId, settlement),
    ...svcMembers?.(served, settlement),
    ...(ignored.length > 0 && { ignored }),
  };
}

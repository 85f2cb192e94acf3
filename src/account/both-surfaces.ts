// Builds the endpoints about the account of the key that asks. Both surfaces have each of them: at
// /v1, where the key of a request names the surface, and at /api/v1.

import type { Surface } from "../core/access/services.ts";
import { toJsonNumber, ZERO } from "../core/money/money.ts";
import type { Endpoint } from "../http/endpoint-info.ts";
import type { FrameDeps } from "../http/frame.ts";
import { hasKeyOf } from "../http/read-key.ts";
import { ERROR_FORMS, type ErrorForm } from "../http/respond.ts";

/** The terms that these endpoints share: any key may ask, and the answer costs nothing. */
interface FreeTerms {
  readonly surface: Surface;
  readonly path: string;
  readonly errorForm: ErrorForm;
  readonly service: null;
  readonly access: "key";
  readonly isBilled: false;
}

/**
 * The endpoints of both surfaces that `make` builds, below `/v1` and `/api/v1`. The Gateway's one
 * answers a key of the Application API as that surface does, with errors in the Gateway's form.
 */
export function atBothSurfaces<Deps extends FrameDeps>(
  path: `/v1/${string}`,
  make: (terms: FreeTerms) => Endpoint<Deps>,
): Readonly<Record<Surface, Endpoint<Deps>>> {
  const at = (surface: Surface, prefix: "" | "/api") => {
    const errorForm = ERROR_FORMS[prefix === "" ? "gateway" : "application"];
    const free = { service: null, access: "key", isBilled: false } as const;
    return make({ surface, path: `${prefix}${path}`, errorForm, ...free });
  };
  const [gateway, application] = [at("gateway", ""), at("application", "")];
  return {
    gateway: {
      ...gateway,
      answer: (deps, raw) =>
        hasKeyOf("application", raw.request.headers)
          ? application.answer({ ...deps, surface: "application" }, raw)
          : gateway.answer(deps, raw),
    },
    application: at("application", "/api"),
  };
}

/** The field `svc` of an answer that costs nothing. */
export function freeSvc({ requestId }: { readonly requestId: string }) {
  return { request_id: requestId, cost_usd: toJsonNumber(ZERO) };
}

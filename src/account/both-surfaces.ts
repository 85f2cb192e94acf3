// Serves the endpoints that both surfaces have at one path: the key of a request names the surface.

import type { Endpoint } from "../http/endpoint-info.ts";
import type { FrameDeps } from "../http/frame.ts";
import { hasKeyOf } from "../http/read-key.ts";
import { ERROR_FORMS, type ErrorForm } from "../http/respond.ts";

interface SameOfBoth<Deps> {
  readonly gateway: Endpoint<Deps>;
  readonly application: Endpoint<Deps>;
}

/** The form of errors at a path, whose keys may be of either surface. */
export function errorFormAt(path: string): ErrorForm {
  return ERROR_FORMS[path.startsWith("/api/") ? "application" : "gateway"];
}

/** The Gateway's endpoint, which answers a key of the Application API as that surface does. */
export function forBothSurfaces<Deps extends FrameDeps>({
  gateway,
  application,
}: SameOfBoth<Deps>): Endpoint<Deps> {
  return {
    ...gateway,
    answer: (deps, raw) =>
      hasKeyOf("application", raw.request.headers)
        ? application.answer({ ...deps, surface: "application" }, raw)
        : gateway.answer(deps, raw),
  };
}

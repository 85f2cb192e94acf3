import { toDecimal } from "../../core/money/money.ts";
import { priceVersionOf } from "../../core/money/price-version.ts";
import { type EndpointContext, endpoint } from "../../http/endpoint.ts";
import type { FrameDeps } from "../../http/frame.ts";
import { svcOf } from "../../http/svc.ts";
import type { MapsAction, ParametersOf } from "./actions.ts";
import { askMaps, type MapsCall, type MapsCallDeps } from "./maps.ts";
import { MAPS_EXAMPLES, MAPS_PARAMETERS } from "./maps-documentation.ts";
import { readAction, readQuery } from "./maps-query.ts";
import { MapsAnswer } from "./maps-replies.ts";
import { costOf } from "./prices.ts";
import type { MapsReply } from "./providers/provider.ts";
import { readParameters } from "./read-parameters.ts";
import type { MapsConfig } from "./servers.ts";

const PNG = "image/png";
const PNG_URL = `data:${PNG};base64,`;

/** The dependencies of the maps endpoint. */
export interface MapsDeps extends FrameDeps {
  readonly calls: MapsCallDeps;
  readonly catalogue: () => { readonly maps: MapsConfig };
}

/** SPEC 4.5. */
export const maps = endpoint({
  id: "askMaps",
  surface: "gateway",
  method: "GET",
  path: "/v1/maps",
  service: "maps",
  access: "scope",
  isBilled: true,
  summary: "Ask for places, routes, traffic, weather and maps",
  description: `One action, with its parameters in the query string. A parameter that the action
does not have is refused. Nothing found is an answer, and costs what any answer costs.`,
  parameters: MAPS_PARAMETERS,
  reply: MapsAnswer,
  mediaType: PNG,
  errors: ["invalid_action", "invalid_parameter", "upstream_unreachable", "method_not_allowed"],
  examples: MAPS_EXAMPLES,
  prepare(_, context: EndpointContext<MapsDeps>): MapsCall<MapsAction> {
    const { deps, request } = context;
    const query = readAction(readQuery(request.url));
    const { action } = query;
    // The log names only actions of the list, never an unknown name from a caller.
    context.model = action;
    const parameters = readParameters(action, query.parameters);
    if (!deps.pauses.isPaused("maps")) deps.calls.maps.check(action, parameters);
    const { prices } = deps.catalogue().maps;
    const priceVersion = priceVersionOf(prices);
    return { action, parameters, cost: costOf(action, prices), priceVersion };
  },
  run: ({ deps, call }, mapsCall) =>
    askMaps(deps.calls, call, {
      ...mapsCall,
      write(reply, paid) {
        const bytes = pictureOf(mapsCall, reply);
        if (bytes !== null) return { bytes };
        return { json: replyJson(mapsCall, reply, svcOf(call.requestId, paid)) };
      },
    }),
  answer: (_, __, { reply, charged }) => ({ ...reply, costUsd: toDecimal(charged) }),
});

function replyJson(
  { action }: MapsCall<MapsAction>,
  { data, attribution, provider }: MapsReply<MapsAction>,
  svc: ReturnType<typeof svcOf>,
): string {
  return JSON.stringify({ object: "maps.result", action, data, attribution, provider, svc });
}

/** The bytes of the picture, if requested; the data have it as a `data:` URL. */
function pictureOf(
  { action, parameters }: MapsCall<MapsAction>,
  reply: MapsReply<MapsAction>,
): Uint8Array<ArrayBuffer> | null {
  if (action !== "site_image") return null;
  const { format } = parameters as ParametersOf<"site_image">;
  if (format === "json") return null;
  const { image } = (reply as MapsReply<"site_image">).data;
  if (!image.url.startsWith(PNG_URL)) throw new Error("A site_image is no PNG");
  return Uint8Array.fromBase64(image.url.slice(PNG_URL.length));
}

import { Elysia } from "elysia";
import { type Call, refuse } from "../../calls/call.ts";
import { ApiError } from "../../core/errors.ts";
import { toDecimal, toJsonNumber } from "../../core/money.ts";
import {
  authenticated,
  type EndpointDeps,
  type RequestContext,
  responseMeta,
} from "../../http/endpoint.ts";
import { bytesResponse, jsonResponse } from "../../http/respond.ts";
import { allowQuiet, endQuiet } from "../../http/server.ts";
import type { MapsAction, ParametersOf } from "./actions.ts";
import { askMaps, type MapsCall, type MapsCallDeps, type MapsResult } from "./maps.ts";
import { readAction, readQuery } from "./maps-query.ts";
import { costOf } from "./prices.ts";
import { readParameters } from "./read-parameters.ts";
import type { MapsConfig } from "./servers.ts";

const PATH = "/v1/maps";
const PNG_URL = "data:image/png;base64,";

/** What the maps route is given. */
export interface MapsDeps extends EndpointDeps {
  readonly calls: MapsCallDeps;
  readonly catalogue: () => { readonly maps: MapsConfig };
}

/** GET /v1/maps (SPEC 4.5): one action, its parameters in the query string. */
export function maps(deps: MapsDeps) {
  const answer = (call: Call, arrival: RequestContext) => answerMaps(deps, call, arrival);
  return new Elysia({ name: "gateway/maps" }).get(PATH, ({ request, server }) =>
    authenticated(deps, { request, server }, PATH, answer),
  );
}

async function answerMaps(deps: MapsDeps, call: Call, arrival: RequestContext): Promise<Response> {
  const { request, server } = arrival;
  const wanted = await readCall(deps, call, request);
  allowQuiet(server, request);
  try {
    const result = await askMaps(deps.calls, call, wanted);
    const costUsd = toDecimal(result.settlement.charged);
    const facts = { ...responseMeta(call), costUsd, isPrivate: true };
    const picture = pictureOf(wanted, result);
    return picture === null
      ? jsonResponse(bodyOf(call, wanted.action, result), facts)
      : bytesResponse(picture, "image/png", facts);
  } finally {
    endQuiet(server, request);
  }
}

/** The checked call; one that must be refused is counted and logged by its account first. */
async function readCall(
  deps: MapsDeps,
  call: Call,
  request: Request,
): Promise<MapsCall<MapsAction>> {
  const demand = { scope: "maps", service: "maps" } as const;
  let model: MapsAction | null = null;
  try {
    // HEAD would be a call that is paid for and answers nothing.
    if (request.method !== "GET") {
      throw new ApiError("method_not_allowed", "Use GET", { allow: "GET" });
    }
    const query = readAction(readQuery(request.url));
    const { action } = query;
    // The log names actions that exist, never what a caller made up.
    model = action;
    const parameters = readParameters(action, query.parameters);
    if (deps.pauses.isPaused("maps")) {
      throw new ApiError("maps_unavailable", "The service maps is paused");
    }
    deps.calls.maps.check(action, parameters);
    return { action, parameters, cost: costOf(action, deps.catalogue().maps.prices) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return await refuse(deps.calls, call, { ...demand, model }, error);
  }
}

function bodyOf(call: Call, action: MapsAction, result: MapsResult<MapsAction>): string {
  const { reply, settlement } = result;
  return JSON.stringify({
    object: "maps.result",
    action,
    data: reply.data,
    attribution: reply.attribution,
    provider: reply.provider,
    svc: {
      request_id: call.requestId,
      cost_usd: toJsonNumber(settlement.charged),
      free_credit_usd: toJsonNumber(settlement.free),
    },
  });
}

/** The picture itself, where it was asked for; the data have it as a `data:` URL. */
function pictureOf(
  { action, parameters }: MapsCall<MapsAction>,
  { reply }: MapsResult<MapsAction>,
): Uint8Array<ArrayBuffer> | null {
  if (action !== "site_image") return null;
  const { format } = parameters as ParametersOf<"site_image">;
  if (format === "json") return null;
  const { image } = (reply as MapsResult<"site_image">["reply"]).data;
  if (!image.url.startsWith(PNG_URL)) throw new Error("A site_image is no PNG");
  return Uint8Array.fromBase64(image.url.slice(PNG_URL.length));
}

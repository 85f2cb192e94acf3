// An API with one model for each form of server, and the ways to them by every door for text.

import type { AppDeps } from "../../../src/app.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { anthropicWire } from "../fakes/wire/anthropic-wire.ts";
import { CHAT_WIRES } from "../fakes/wire/chat-wire.ts";
import { responsesWire } from "../fakes/wire/responses-wire.ts";
import type { WireForm } from "../fakes/wire/wire-answer.ts";
import {
  SDK_MODELS,
  type SdkKind,
  sharedServiceAccount,
  WIRE_FORMS,
} from "../fakes/wire/wire-forms.ts";
import { CHAT_WAY, modelFor, WAYS, type Way } from "../product/ways.ts";
import type { ApiWorld } from "./api-world.ts";
import { chatOver, modelOf, providerAt } from "./chat-routes.ts";
import { DOORS } from "./doors.ts";
import { MODEL } from "./models.ts";
import { sharedApi } from "./shared-api.ts";

/** A way, with the tools that a test needs to go the way. */
export interface DoorWay extends Way {
  readonly name: string;
  readonly path: string;
  /** The form in which the server of this way answers. */
  readonly wire: WireForm;
  body(asked: { readonly stream: boolean; readonly maxTokens: number }): object;
}

const SERVERS = [
  { form: null, kind: "openai", wire: CHAT_WIRES.openai },
  { form: "responses", kind: "openai-responses", wire: responsesWire },
  { form: "messages", kind: "anthropic", wire: anthropicWire },
] as const;

const ID = "door-model";
/** Room for the longest session of a test. */
const CONTEXT_TOKENS = 2_000_000;

export const DOOR_WAYS: readonly DoorWay[] = WAYS.map((way) => {
  const { path, body } = DOORS[way.door];
  const server = SERVERS.find(({ form }) => form === way.form);
  if (server === undefined) throw new Error(`No server speaks ${way.form}`);
  return {
    ...way,
    name: `${path}${way.form === null ? "" : ", passed through"}`,
    path,
    wire: server.wire,
    body: (asked) => body({ ...asked, model: modelFor(way, ID), prompt: "Hello" }),
  };
});

const PACKAGES = Object.keys(WIRE_FORMS) as SdkKind[];

/** The ways of a chat to servers of other forms, each by a package. */
export const PACKAGE_WAYS: readonly DoorWay[] = PACKAGES.map((kind) => {
  const { path, body } = DOORS.chat;
  return {
    ...CHAT_WAY,
    name: `${path}, by the package for ${kind}`,
    path,
    wire: WIRE_FORMS[kind],
    body: (asked) => body({ ...asked, model: `${ID}-by-${kind}`, prompt: "Hello" }),
  };
});

/** A model whose server speaks Responses. */
export const OWN_RESPONSES_MODEL = modelFor({ form: "responses" }, ID);

export const VECTOR_MODELS = { embedding: "door-vectors", rerank: "door-ranks" } as const;

/** An API whose models are all at this server, and have the prices of the tests' model. */
export async function doorsAt(
  url: string,
  more: Pick<Partial<AppDeps>, "parser"> = {},
): Promise<ApiWorld> {
  const cloud = { region: "eu-west-1", serviceAccount: sharedServiceAccount() };
  const kinds = new Set([...SERVERS.map(({ kind }) => kind), ...PACKAGES]);
  const providers = [...kinds].map((kind) => providerAt(url, { name: kind, kind, cloud }));
  const model = (id: string, provider: string, name = "upstream-model") => ({
    ...modelOf([provider, name]),
    id,
    prices: MODEL.prices,
    contextTokens: CONTEXT_TOKENS,
  });
  const models = [
    ...SERVERS.map(({ form, kind }) => model(modelFor({ form }, ID), kind)),
    ...PACKAGES.map((kind) => model(`${ID}-by-${kind}`, kind, SDK_MODELS[kind])),
    ...(["embedding", "rerank"] as const).map((serves) => ({
      ...model(VECTOR_MODELS[serves], "openai"),
      serves,
    })),
  ];
  const catalogue = catalogueOf(models, providers);
  return await sharedApi({ catalogue: () => catalogue, chat: chatOver(catalogue), ...more });
}

// POST /v1/embeddings, in OpenAI's form.

import type { Settled } from "../../../../calls/settling.ts";
import { VECTORS } from "../../../../core/access/limits.ts";
import { toDecimal } from "../../../../core/money/money.ts";
import type { Answer } from "../../../../http/answer.ts";
import { invalid, isAbsent } from "../../../../http/body/checks.ts";
import { endUserOf } from "../../../../http/body/end-user.ts";
import { jsonBody } from "../../../../http/body/json-body.ts";
import { unknownFieldsOf } from "../../../../http/body/unknown-fields.ts";
import { endpoint } from "../../../../http/endpoint.ts";
import {
  type Checked,
  named,
  oneOf,
  optional,
  type TSchema,
  Type,
  text,
  whole,
  wholeCount,
} from "../../../../http/schema.ts";
import { embeddings as embeddingsUsage } from "../../usage/embeddings.ts";
import { SENT_PLAINLY } from "../../usage/reply-usage.ts";
import type { ChatContext } from "../completions/answer-chat.ts";
import { ApplicationCost, ChatCost } from "../completions/chat-reply.ts";
import { ENCODINGS, type ReadVectors, readVectors } from "./embedding-vectors.ts";
import { runVectors, type VectorCall } from "./vector-call.ts";
import { embeddingsExamples } from "./vector-examples.ts";
import type { Item } from "./vector-input.ts";
import { chooseVectors, type SurfaceTerms, vectorSvc } from "./vector-request.ts";

const INPUT_RULE =
  "must be a text, tokens, or an array of texts or of arrays of tokens, and not be empty";
const TOKEN_MAX = 2 ** 31 - 1;
const DIMENSIONS_MAX = 65_536;

const token = whole(0, TOKEN_MAX);
const inputText = text({ minLength: 1, must: "must not be an empty text" });
const tokens = Type.Array(token, { minItems: 1, must: "must have at least one token" });

/** Each token of an input is a value of the body. */
export const EMBEDDINGS_BODY = {
  bytesMax: VECTORS.bodyBytesMax,
  valuesMax: VECTORS.valuesMax,
} as const;

export const EmbeddingsBody = named("EmbeddingsRequest", {
  model: text({ description: "An id of `GET /v1/models` whose `svc.serves` is `embedding`" }),
  input: Type.Union(
    [
      inputText,
      Type.Array(
        Type.Union([inputText, token, tokens], { must: "must be a text, or an array of tokens" }),
        { minItems: 1, must: INPUT_RULE },
      ),
    ],
    {
      must: INPUT_RULE,
      description:
        `A text, an array of at most ${VECTORS.itemsMax} texts, an array of tokens, or an array ` +
        "of such arrays",
    },
  ),
  dimensions: optional(
    whole(1, DIMENSIONS_MAX, { description: "Of each vector, where the model can shorten them" }),
  ),
  encoding_format: optional(
    oneOf(ENCODINGS, {
      description: "`base64`: the bytes of 32-bit floats, least significant first",
      default: "float",
    }),
  ),
  user: optional(text({ description: "Not forwarded" })),
});
type EmbeddingsFields = Checked<typeof EmbeddingsBody>;

/** The reply; `svc` differs between the surfaces. */
function embeddingsReply<S extends TSchema>(svc: S) {
  return named("Embeddings", {
    object: Type.Literal("list"),
    data: Type.Array(
      Type.Object({
        object: Type.Literal("embedding"),
        index: wholeCount("Of the input"),
        embedding: Type.Union([Type.Array(Type.Number()), text()], {
          description: "Numbers, or base64 where that was asked for",
        }),
      }),
    ),
    model: text({ description: "The model that answered" }),
    usage: Type.Object({
      prompt_tokens: wholeCount("Tokens of all inputs"),
      total_tokens: wholeCount("The same"),
    }),
    svc,
  });
}

export const gatewayEmbeddings = embeddingsReply(ChatCost);
export const applicationEmbeddings = embeddingsReply(ApplicationCost);

/** A call of this door, with the parts of the body that the answer depends on. */
export interface EmbeddingsCall extends VectorCall<ReadVectors>, SurfaceTerms {
  readonly dimensions: number | null;
  readonly ignored: readonly string[];
}

const unknownFields = unknownFieldsOf(EmbeddingsBody, ["user"]);

/** Builds the call of a body. */
export function prepareEmbeddings(
  context: ChatContext,
  fields: EmbeddingsFields,
  terms: SurfaceTerms,
): EmbeddingsCall {
  const { input, dimensions = null, encoding_format } = fields;
  const items = itemsOf(input);
  const unknown = unknownFields(fields);
  const { extras, ...chosen } = chooseVectors(context, fields, { use: "embedding", unknown });
  const encoding = encoding_format ?? "float";
  const isOne = typeof input === "string" || typeof input[0] === "number";
  return {
    ...chosen,
    ...terms,
    dimensions,
    asked: {
      use: "embedding",
      body: {
        ...extras,
        input,
        ...(!isAbsent(dimensions) && { dimensions }),
        // Not every server knows the field, and all send numbers without it.
        ...(encoding !== "float" && { encoding_format: encoding }),
      },
      read: (reply) => ({
        result: readVectors(reply, items.length, encoding),
        usage: embeddingsUsage.read({ reply }, SENT_PLAINLY),
      }),
    },
    input: {
      items,
      fieldOf: (index) => (isOne ? "input" : `input[${index}]`),
      query: null,
    },
    isWhole: true,
    fees: {},
    feesMax: {},
  };
}

/** The items of an input. Throws if it mixes kinds of items, or has too many. */
function itemsOf(input: EmbeddingsFields["input"]): readonly Item[] {
  if (typeof input === "string") return [input];
  const [first] = input;
  const kind = inputKindOf(first);
  const other = input.findIndex((item) => inputKindOf(item) !== kind);
  if (other >= 0) throw invalid(`input[${other}]`, `must be ${kind}, as input[0] is`);
  if (typeof first === "number") return [input as readonly number[]];
  if (input.length > VECTORS.itemsMax) {
    throw invalid("input", `must have at most ${VECTORS.itemsMax} items`);
  }
  return input as readonly Item[];
}

function inputKindOf(item: EmbeddingsFields["input"][number] | undefined): string {
  if (typeof item === "string") return "a text";
  return typeof item === "number" ? "a token" : "an array of tokens";
}

/** Runs a call. */
export function runEmbeddings(
  context: ChatContext,
  vector: EmbeddingsCall,
): Promise<Settled<string>> {
  const { deps, call } = context;
  const { model, dimensions, svcMembers } = vector;
  return runVectors(deps.calls, call, {
    vector,
    saysWhatIsLeft: svcMembers !== null,
    write: ({ result, usage }, settlement) => {
      const isShortened = dimensions === null || dimensions === result.dimensions;
      const ignored = isShortened ? vector.ignored : [...vector.ignored, "dimensions"];
      const { promptTokens } = usage;
      return JSON.stringify({
        object: "list",
        data: result.vectors.map((embedding, index) => ({ object: "embedding", index, embedding })),
        model: model.id,
        usage: { prompt_tokens: promptTokens, total_tokens: promptTokens },
        svc: vectorSvc(context, { model, ignored, svcMembers }, settlement),
      });
    },
  });
}

/** The answer of either door. */
export function answerVectors(
  _: ChatContext,
  __: unknown,
  { reply, charged }: Settled<string>,
): Answer {
  return { json: reply, costUsd: toDecimal(charged) };
}

export const EMBEDDINGS_DESCRIPTION = `Compatible with OpenAI's embeddings, for models whose
\`svc.serves\` in \`GET /v1/models\` is \`embedding\`. Charged by the tokens that the model's server
reports, or that are counted here if it reports none. An input that is longer than the context of
the model is refused. A body may have 100,000 values, of which each token is one. Where the server
does not shorten vectors, \`svc.ignored\` names \`dimensions\`. A call whose caller leaves is
charged.`;

/** Embeddings in the Gateway. */
export const embeddings = endpoint({
  id: "createEmbeddings",
  surface: "gateway",
  method: "POST",
  path: "/v1/embeddings",
  service: "chat",
  access: "scope",
  isBilled: true,
  summary: "Turn texts into vectors",
  description: EMBEDDINGS_DESCRIPTION,
  body: jsonBody(EmbeddingsBody, EMBEDDINGS_BODY),
  endUser: endUserOf,
  reply: gatewayEmbeddings,
  errors: ["context_length_exceeded", "model_not_found", "upstream_unreachable"],
  examples: embeddingsExamples({}),
  mistakenFor: ["/embeddings", "/v1/embedding", "/v1/embed"],
  prepare: (fields, context: ChatContext) =>
    prepareEmbeddings(context, fields, { svcMembers: null }),
  run: runEmbeddings,
  answer: answerVectors,
});

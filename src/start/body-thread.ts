// The thread that parses large bodies, so that they do not hold up the thread that serves requests.

import { ApiError } from "../core/errors.ts";
import { checkJsonShape } from "../http/body/json-shape.ts";
import { packJson } from "../http/body/packed-json.ts";
import { type BodyToParse, type ParsedBody, parseText } from "../http/body/parse-body.ts";
import { decode } from "../http/body/read-body.ts";
import type { TSchema } from "../http/schema.ts";
import { serveThread } from "../upstream/thread-server.ts";

serveThread<null, BodyToParse, ParsedBody>(() => ({ body, isArray, outline, ...bounds }) => {
  try {
    const text = typeof body === "string" ? body : decode(body);
    const shape = checkJsonShape(text, bounds);
    const schema = JSON.parse(outline) as TSchema;
    const value = parseText({ schema, isArray }, text, shape);
    return { packed: packJson(value), values: shape.values };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, message, param } = error;
    return { refusal: { code, message, param } };
  }
});

// The events in the reply of a vector.

import type { Json, Vector } from "./vector-form.ts";

export function eventsOf({ response_form: form, response }: Vector): Json[] {
  if (form === "json") return [parsed(response)];
  if (form === "json-lines") return (response as readonly unknown[]).map(parsed);
  if (form === "eventstream-base64") return awsEvents(Buffer.from(response as string, "base64"));
  return sseEvents(response as string);
}

/** The events in the text of a stream, without the end of OpenAI's. */
export function sseEvents(text: string): Json[] {
  return text
    .split(/\r?\n/)
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(5).trim())
    .filter((data) => data !== "" && data !== "[DONE]")
    .map(parsed);
}

/** Vectors of ours have objects where recordings have text. */
function parsed(json: unknown): Json {
  return typeof json === "string" ? JSON.parse(json) : (json as Json);
}

/** The events of AWS's binary framing, each below the name of its type. */
export function awsEvents(bytes: Buffer): Json[] {
  const events: Json[] = [];
  for (let at = 0; at < bytes.length; at += bytes.readUInt32BE(at)) {
    const headersEnd = at + 12 + bytes.readUInt32BE(at + 4);
    const type = eventType(bytes.subarray(at + 12, headersEnd));
    const body = bytes.subarray(headersEnd, at + bytes.readUInt32BE(at) - 4);
    events.push({ [type]: JSON.parse(body.toString()) });
  }
  return events;
}

/** Headers are a name, a type and a value, each with its length before it. All values are texts. */
function eventType(headers: Buffer): string {
  let at = 0;
  while (at < headers.length) {
    const nameEnd = at + 1 + headers.readUInt8(at);
    const name = headers.toString("utf8", at + 1, nameEnd);
    const valueEnd = nameEnd + 3 + headers.readUInt16BE(nameEnd + 1);
    if (name === ":event-type") return headers.toString("utf8", nameEnd + 3, valueEnd);
    at = valueEnd;
  }
  return "";
}

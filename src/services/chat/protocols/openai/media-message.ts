// Messages with images and PDFs, by OpenAI's form.

import { type ContentPart, DETAILS, type MediaPart } from "../../media/media-part.ts";
import type { ChatMessage } from "../provider.ts";

const [AUTO] = DETAILS;
/** OpenAI wants a name of each file. */
const FILE_NAME = "document.pdf";

/** A message as a server of OpenAI's form takes it. */
export function toWire(message: ChatMessage): object {
  const { content } = message;
  if (content === null || typeof content === "string") return message;
  return { ...message, content: content.map(toWirePart) };
}

function toWirePart(part: ContentPart): object {
  if (part.type === "text") return part;
  return part.kind === "image" ? imagePart(part) : filePart(part);
}

function imagePart({ url, detail }: MediaPart): object {
  // Not every compatible server knows the field.
  const image = detail === AUTO ? { url } : { url, detail };
  return { type: "image_url", image_url: image };
}

function filePart({ url, fileName }: MediaPart): object {
  return { type: "file", file: { filename: fileName ?? FILE_NAME, file_data: url } };
}

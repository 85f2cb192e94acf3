// Farebox with the official OpenAI SDK: only the address and the key are others.

import OpenAI from "openai";

const { FAREBOX_URL, FAREBOX_KEY, FAREBOX_MODEL = "farebox-guide" } = process.env;
const client = new OpenAI({ baseURL: FAREBOX_URL, apiKey: FAREBOX_KEY });
const messages = [{ role: "user", content: "What is a hold?" }];

try {
  for await (const model of client.models.list()) console.log("model:", model.id);

  const reply = await client.chat.completions.create({ model: FAREBOX_MODEL, messages });
  console.log("answer:", reply.choices[0].message.content);
  console.log("cost:", reply.svc.cost_usd, "USD, request", reply.svc.request_id);

  process.stdout.write("stream: ");
  const stream = await client.chat.completions.create({
    model: FAREBOX_MODEL,
    messages,
    stream: true,
  });
  let cost = 0;
  for await (const chunk of stream) {
    process.stdout.write(chunk.choices[0]?.delta.content ?? "");
    cost = chunk.svc?.cost_usd ?? cost;
  }
  console.log("\ncost:", cost, "USD");
} catch (error) {
  if (!(error instanceof OpenAI.APIError)) throw error;
  console.error(`refused: ${error.status} ${error.code}: ${error.message}`);
  process.exitCode = 1;
}

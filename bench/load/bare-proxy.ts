// Forwards calls and nothing else: the baseline that Farebox is compared with.

import { Elysia } from "elysia";

const upstream = `${process.env.UPSTREAM_URL}/chat/completions`;
const HEADERS = { "content-type": "application/json" };

const app = new Elysia()
  .get("/", () => "ready")
  .post("/v1/chat/completions", async ({ body, request }) => {
    const response = await fetch(upstream, {
      method: "POST",
      headers: HEADERS,
      body: JSON.stringify(body),
      signal: request.signal,
    });
    const type = response.headers.get("content-type") ?? "";
    if (!type.startsWith("text/event-stream")) return await response.json();
    return new Response(response.body, { headers: { "content-type": type } });
  })
  .listen({ hostname: "127.0.0.1", port: Number(process.env.PORT), idleTimeout: 0 });

console.log(`The bare proxy listens on ${app.server?.port}`);

// A model server for checks, in a container of its own: answers chats in the protocol of OpenAI, a
// stream over some three seconds, so that streams are open when a process is stopped.

const WORDS = 30;
const WORD_MS = 100;
const usage = { prompt_tokens: 10, completion_tokens: WORDS, total_tokens: 10 + WORDS };
const head = { id: "slow", created: 1, model: "slow" };

Bun.serve({
  port: 8080,
  idleTimeout: 60,
  fetch: async (request) => {
    const { stream } = (await request.json()) as { readonly stream?: boolean };
    if (stream === true) {
      return new Response(words(), { headers: { "content-type": "text/event-stream" } });
    }
    const message = { role: "assistant", content: "word ".repeat(WORDS) };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    return Response.json({ ...head, object: "chat.completion", choices, usage });
  },
});

async function* words(): AsyncGenerator<string> {
  for (let word = 0; word < WORDS; word += 1) {
    yield frame({ choices: [{ index: 0, delta: { role: "assistant", content: "word " } }] });
    await Bun.sleep(WORD_MS);
  }
  yield frame({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
  yield frame({ choices: [], usage });
  yield "data: [DONE]\n\n";
}

function frame(content: object): string {
  const chunk = { ...head, object: "chat.completion.chunk", ...content };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

// Replaces the answers of all servers behind an API, whatever service a request asks for.

import type { ApiWorld } from "./api-world.ts";

/** Answers in place of a server; `answer` asks the server itself. */
type Replacement = <Reply>(answer: () => Promise<Reply>) => Promise<Reply>;

/** Replaces the answers until the returned function is called. */
export function replaceAnswers({ chat, search, maps }: ApiWorld, by: Replacement): () => void {
  const { complete, serve } = chat;
  const { search: find } = search;
  const { ask } = maps;
  chat.complete = (...given) => by(() => complete.apply(chat, given));
  chat.serve = ((...given: Parameters<typeof serve>) =>
    by(() => serve.apply(chat, given))) as typeof serve;
  search.search = (...given) => by(() => find.apply(search, given));
  maps.ask = ((...given: Parameters<typeof ask>) => by(() => ask.apply(maps, given))) as typeof ask;
  return () => {
    for (const name of ["complete", "serve"]) Reflect.deleteProperty(chat, name);
    Reflect.deleteProperty(search, "search");
    Reflect.deleteProperty(maps, "ask");
  };
}

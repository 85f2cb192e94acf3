// A chat in the playground, streamed, each answer with its exact cost.

import { Button, Select, Textarea } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { ModelsReply } from "../../../../src/readings/models.ts";
import { type ApiCall, type Capped, streamChat } from "../../api/playground.ts";
import { modelsQuery, outdateAccount } from "../../api/queries.ts";
import { type Change, Problem, useChange } from "../../parts/ask.tsx";
import { Cost, Hold } from "../../parts/call-price.tsx";
import { Form } from "../../parts/form.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import type { Account } from "../../session.tsx";
import { t } from "../../texts.ts";

interface Line {
  readonly id: number;
  readonly role: "user" | "assistant";
  readonly content: string;
  readonly costUsd?: string | null;
  readonly requestId?: string | null;
  readonly stoppedBy?: string | null;
}

const AUTO = "auto";
const CHAT_PATH = "/v1/chat/completions";
const TOKENS_MAX = 1_024;
const TYPING_MS = 400;

interface Chat {
  readonly lines: readonly Line[];
  /**
   * Sends a message; throws if the call was refused. Calls `onNothing` if no part of an answer
   * came, which leaves the conversation as it was.
   */
  readonly send: (said: string, call: ApiCall, onNothing: () => void) => Promise<void>;
  readonly stop: () => void;
}

function useChat(account: string): Chat {
  const [lines, setLines] = useState<readonly Line[]>([]);
  const abort = useRef<AbortController | null>(null);
  // The account would still pay for an answer that the page no longer shows.
  useEffect(() => () => abort.current?.abort(), []);
  const send: Chat["send"] = async (said, call, onNothing) => {
    const id = lines.length;
    let answer = "";
    const show = (more: Partial<Line> = {}) => {
      const user: Line = { id, role: "user", content: said };
      setLines([...lines, user, { id: id + 1, role: "assistant", content: answer, ...more }]);
    };
    abort.current = new AbortController();
    const { signal } = abort.current;
    const onText = (piece: string) => {
      answer += piece;
      show();
    };
    try {
      const { problem, ...end } = await streamChat(account, call, { onText, signal });
      if (answer === "" && signal.aborted) throw signal.reason;
      // The received part is charged, so it stays, with the way to its receipt.
      if (answer !== "" || problem === null) show(end);
      if (problem !== null) throw problem;
    } catch (error) {
      if (answer === "") {
        setLines(lines);
        onNothing();
      }
      if (!signal.aborted) throw error;
    } finally {
      await outdateAccount(account);
    }
  };
  return { lines, send, stop: () => abort.current?.abort() };
}

/** The models that can be asked; the Application API can also choose one. */
function modelIds({ models }: ModelsReply, { surface }: Account): readonly string[] {
  const ready = models.filter((one) => one.serves === "chat" && !one.is_paused);
  return [...(surface === "application" ? [AUTO] : []), ...ready.map(({ id }) => id)];
}

interface ChatProps {
  readonly account: Account;
  readonly capped: Capped;
}

export function PlaygroundChat({ account, capped }: ChatProps) {
  return (
    <Loaded query={useQuery(modelsQuery)}>
      {(models) => (
        <Conversation account={account} capped={capped} ids={modelIds(models, account)} />
      )}
    </Loaded>
  );
}

interface ConversationProps extends ChatProps {
  /** The ids of the models to choose from. */
  readonly ids: readonly string[];
}

function Conversation({ account, capped, ids }: ConversationProps) {
  const { lines, send, stop } = useChat(account.id);
  const [text, setText] = useState("");
  const [chosen, setModel] = useState<string | null>(null);
  const model = chosen ?? ids[0] ?? null;
  const [asked] = useDebouncedValue(text.trim(), TYPING_MS);
  const callOf = (said: string): ApiCall | null => {
    if (said === "" || model === null) return null;
    const path = account.surface === "application" ? "/api/v1/chat/completions" : CHAT_PATH;
    const before = lines.map(({ role, content }) => ({ role, content }));
    const messages = [...before, { role: "user", content: said }];
    return capped({ path, body: { model, messages, max_tokens: TOKENS_MAX, stream: true } });
  };
  const change = useChange(async () => {
    const said = text.trim();
    const call = callOf(said);
    if (call === null) return;
    setText("");
    await send(said, call, () => setText(said));
  });
  return (
    <div className="stack">
      <Select
        label={t.usage.ticket.model}
        data={[...ids]}
        value={model}
        onChange={setModel}
        disabled={change.busy}
      />
      <ChatLog lines={lines} account={account.id} />
      <ChatForm
        text={text}
        setText={setText}
        change={change}
        stop={stop}
        isReady={callOf(text.trim()) !== null}
      >
        <Hold account={account.id} call={callOf(asked)} />
      </ChatForm>
    </div>
  );
}

interface ChatFormProps {
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly change: Change;
  readonly stop: () => void;
  /** True if the call is complete. */
  readonly isReady: boolean;
  readonly children: ReactNode;
}

function ChatForm({ text, setText, change, stop, isReady, children }: ChatFormProps) {
  return (
    <Form submit={change.start}>
      <Textarea
        label={t.playground.message}
        autosize
        minRows={2}
        maxRows={8}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      {children}
      <Problem error={change.error} />
      <div className="row" data-end="">
        {change.busy && (
          <Button variant="default" onClick={stop}>
            {t.playground.stop}
          </Button>
        )}
        <Button type="submit" loading={change.busy} disabled={!isReady}>
          {t.playground.send}
        </Button>
      </div>
    </Form>
  );
}

function ChatLog({
  lines,
  account,
}: {
  readonly lines: readonly Line[];
  readonly account: string;
}) {
  if (lines.length === 0) return <p className="small dim">{t.playground.noLines}</p>;
  return (
    <section className="chat-log" aria-live="polite" aria-label={t.playground.conversation}>
      {lines.map((line) => (
        <div key={line.id} className="chat-line">
          <span className="tiny dim">{t.playground.who[line.role]}</span>
          <div className="chat-text">{line.content}</div>
          {line.requestId !== undefined && (
            <Cost
              account={account}
              usd={line.costUsd ?? null}
              requestId={line.requestId}
              stoppedBy={line.stoppedBy ?? null}
            />
          )}
        </div>
      ))}
    </section>
  );
}

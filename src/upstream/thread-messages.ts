// The messages between a worker thread and the thread that serves requests.

export type LogLevel = "info" | "warn" | "error";

export type ToThread<Setup, Request> =
  /** The first message, sent once. */
  | { readonly type: "open"; readonly setup: Setup }
  | { readonly type: "request"; readonly id: number; readonly request: Request };

export type FromThread<Reply, Event> =
  | { readonly type: "ready" }
  | { readonly type: "reply"; readonly id: number; readonly reply: Reply }
  | { readonly type: "failed"; readonly id: number; readonly reason: string }
  /** What the thread tells of its own accord. */
  | { readonly type: "event"; readonly event: Event }
  | {
      readonly type: "log";
      readonly level: LogLevel;
      readonly fields: object;
      readonly message: string;
    };

// Defines the messages between a worker thread and the thread that serves requests.

export type LogLevel = "info" | "warn" | "error";

export type ToThread<Setup, Request> =
  /** The first message, sent once. */
  | { readonly type: "open"; readonly setup: Setup }
  /** Sent when the thread has replied to the previous request. */
  | { readonly type: "request"; readonly request: Request };

export type FromThread<Reply, Event> =
  | { readonly type: "ready" }
  | { readonly type: "reply"; readonly reply: Reply }
  | { readonly type: "failed"; readonly reason: string }
  /** A message that the thread sends without a request. */
  | { readonly type: "event"; readonly event: Event }
  | {
      readonly type: "log";
      readonly level: LogLevel;
      readonly fields: object;
      readonly message: string;
    };

// Serves the sandbox: a local stand-in of Stripe with a page to pay on. No real money moves.

import type { Clock } from "../../core/clock.ts";
import type { RandomBytes } from "../../core/ids.ts";
import {
  ALL_LANGUAGES,
  chosenLanguage,
  type Language,
  languageCookie,
  languageOf,
} from "../../core/languages.ts";
import type { Log } from "../../core/log.ts";
import { isOwnOrigin } from "../../http/console/own-origin.ts";
import { isLocalRequest } from "../../http/local-request.ts";
import { peerOf } from "../../http/server.ts";
import { SandboxActions } from "./sandbox-actions.ts";
import { answerApi } from "./sandbox-api.ts";
import { type ApiAnswer, type ApiRequest, keepAnswer, keptAnswer } from "./sandbox-keys.ts";
import {
  documentPage,
  missingPage,
  overviewPage,
  type PageTerms,
  paidPage,
  paymentPage,
  receiptPage,
  refusedPage,
} from "./sandbox-pages.ts";
import { SandboxRefusal } from "./sandbox-refusal.ts";
import { SandboxStore } from "./sandbox-store.ts";
import { SandboxWebhooks, type WebhookTarget } from "./sandbox-webhooks.ts";

export interface SandboxOptions {
  /** 0 for any free port. The sandbox listens on this machine only. */
  readonly port: number;
  /** The file that keeps its objects; null: they are not kept. */
  readonly file: string | null;
  readonly secretKey: string;
  readonly webhook: WebhookTarget;
  readonly now: () => number;
  readonly random: RandomBytes;
  readonly after: Clock["after"];
  readonly log: Pick<Log, "info" | "warn">;
  /** Lets a test answer in place of the sandbox, before or after the sandbox has done the work. */
  readonly intercept?: (request: ApiRequest, answer: () => ApiAnswer) => Promise<Response | null>;
}

export interface Sandbox {
  readonly url: string;
  readonly actions: SandboxActions;
  readonly webhooks: SandboxWebhooks;
  stop(): Promise<void>;
}

const PAY = "/pay/";
const RECEIPT = "/receipt/";
const DOCUMENT = "/document/";
const HTML = { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" };
const SANDBOX_HEADER = { "farebox-sandbox": "no real money" };

/** Starts the sandbox. */
export function startSandbox(options: SandboxOptions): Sandbox {
  const store = new SandboxStore(options);
  const { webhook: target, after, log } = options;
  const webhooks = new SandboxWebhooks({ store, target, after, log });
  const actions = new SandboxActions(store, (event) => webhooks.add(event));
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: options.port,
    // Longer than a client waits: the client gives up a request that gets no answer.
    idleTimeout: 120,
    async fetch(request, self) {
      const response = isOfThisMachine(request, peerOf(self, request))
        ? await answer(actions, options, request)
        : html(refusedPage("foreign", { language: languageFor(request) }), 403);
      store.save();
      response.headers.set("farebox-sandbox", SANDBOX_HEADER["farebox-sandbox"]);
      return response;
    },
  });
  webhooks.start();
  return {
    url: `http://127.0.0.1:${server.port}`,
    actions,
    webhooks,
    stop: async () => {
      await webhooks.stop();
      await server.stop(true);
    },
  };
}

/**
 * True for a request of this machine. Pages of foreign sites can send requests to this address too:
 * by a domain name that leads here, which the header Host shows, or by a form, which the header
 * Origin shows.
 */
function isOfThisMachine(request: Request, peer: string): boolean {
  const origin = request.headers.get("origin");
  return isLocalRequest(peer, request.headers) && (origin === null || isOwnOrigin(request, null));
}

async function answer(
  actions: SandboxActions,
  options: SandboxOptions,
  request: Request,
): Promise<Response> {
  const { pathname, searchParams, origin } = new URL(request.url);
  const body = await request.text();
  if (pathname.startsWith("/v1/")) {
    const key = request.headers.get("idempotency-key");
    const asked: ApiRequest = {
      method: request.method,
      path: pathname,
      query: searchParams,
      body,
      idempotencyKey: key,
    };
    if (request.headers.get("authorization") !== `Bearer ${options.secretKey}`) {
      const message = "Invalid API Key provided";
      return Response.json({ error: { type: "invalid_request_error", message } }, { status: 401 });
    }
    const work = () => withOrigin(answerApi(actions, asked), origin);
    const saved = keptAnswer(actions.store, asked);
    if (saved?.status === FAILED) return apiResponse(saved);
    const intercepted = (await options.intercept?.(asked, work)) ?? null;
    if (intercepted?.status === FAILED)
      keepAnswer(actions.store, asked, { status: FAILED, body: BROKEN });
    return intercepted ?? apiResponse(work());
  }
  const page = answerPage(actions, {
    method: request.method,
    path: pathname,
    form: new URLSearchParams(body),
    language: languageFor(request),
  });
  // A language that a person chooses on one page applies to all pages.
  const chosen = chosenLanguage(request.url, ALL_LANGUAGES);
  if (chosen !== null) page.headers.append("set-cookie", languageCookie(chosen));
  return page;
}

function languageFor({ url, headers }: Request): Language {
  return chosenLanguage(url, ALL_LANGUAGES) ?? languageOf(headers, ALL_LANGUAGES);
}

/**
 * Stripe saves its own failure under the key of the request, but not a failure on the way to
 * Stripe.
 */
const FAILED = 500;
const BROKEN = { error: { type: "api_error", message: "An unknown error occurred" } } as const;

function apiResponse({ status, body, isReplayed = false }: ApiAnswer): Response {
  const headers = isReplayed ? { "idempotent-replayed": "true" } : {};
  return Response.json(body, { status, headers });
}

const ADDRESSES: ReadonlySet<string> = new Set(["url", "receipt_url", "invoice_pdf", "pdf"]);
const PAGES = [PAY, RECEIPT, DOCUMENT];

/** Makes whole addresses of the paths of pages, as Stripe does. */
function withOrigin(answer: ApiAnswer, origin: string): ApiAnswer {
  const body: object = JSON.parse(JSON.stringify(answer.body), (name, value: unknown) => {
    const isPage =
      ADDRESSES.has(name) &&
      typeof value === "string" &&
      PAGES.some((path) => value.startsWith(path));
    return isPage ? `${origin}${value}` : value;
  });
  return { ...answer, body };
}

interface PageRequest extends PageTerms {
  readonly method: string;
  readonly path: string;
  readonly form: URLSearchParams;
}

function answerPage(actions: SandboxActions, request: PageRequest): Response {
  const { method, path, form } = request;
  try {
    if (path.startsWith(PAY)) return payPage(actions, request);
    if (path.startsWith(RECEIPT)) {
      const intent = actions.get(path.slice(RECEIPT.length), "payment_intent");
      return html(receiptPage(intent, request));
    }
    if (path.startsWith(DOCUMENT)) {
      const document = actions.store.find(path.slice(DOCUMENT.length));
      const isOne = document?.object === "invoice" || document?.object === "credit_note";
      if (document !== null && isOne) return html(documentPage(document, request));
    }
    if (path === "/" && method === "GET") return html(overviewPage(actions, request));
    if (path === "/act" && method === "POST") {
      act(actions, form);
      return new Response(null, { status: 303, headers: { location: "/" } });
    }
  } catch (error) {
    if (!(error instanceof SandboxRefusal)) throw error;
    if (!error.isMissing) return html(refusedPage("changed", request), 400);
  }
  return html(missingPage(request), 404);
}

function payPage(actions: SandboxActions, request: PageRequest): Response {
  const { method, path, form } = request;
  const id = path.slice(PAY.length);
  const session = actions.get(id, "checkout.session");
  if (method !== "POST" || session.status !== "open") {
    return html(paymentPage(session, null, request), method === "POST" ? 402 : 200);
  }
  try {
    actions.paySession(id, form.get("card") ?? "");
  } catch (error) {
    if (!(error instanceof SandboxRefusal)) throw error;
    const { code, message } = error.error;
    const now = actions.get(id, "checkout.session");
    return html(paymentPage(now, String(code ?? message), request), 402);
  }
  return html(paidPage(String(session.success_url), request));
}

function act(actions: SandboxActions, form: URLSearchParams): void {
  const [what, id, status] = ["do", "id", "status"].map((name) => form.get(name) ?? "");
  if (id === undefined || status === undefined) return;
  if (what === "refund") actions.refund(id, null);
  else if (what === "fail") actions.failRefund(id);
  else if (what === "dispute") actions.dispute(id, status);
  else if (what === "move") actions.moveDispute(id, status);
  else if (what === "warn") actions.warn(id);
  else if (what === "behave") actions.store.setBehaviour(id, status);
}

function html(text: string, status = 200): Response {
  return new Response(text, { status, headers: HTML });
}

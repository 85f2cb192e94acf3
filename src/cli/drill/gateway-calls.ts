// The calls that a drill makes at the addresses of the installation, as any caller makes them.

import { type NanoUsd, usd, ZERO } from "../../core/money/money.ts";
import { GUIDE_MODEL } from "../../services/chat/models/catalogue.ts";

const CALL_MS_MAX = 120_000;
const CHAT = "/v1/chat/completions";

/** Models that are asked for their price, at most. */
const QUOTED_MODELS = 20;

/** The addresses and the key of a drill's calls. */
export interface Caller {
  readonly addresses: readonly string[];
  readonly key: string;
  /** Ends the calls when the drill stops. */
  readonly stop: AbortSignal;
}

/** A call of the drill: the model, and the largest hold of a call. */
export interface DrilledCall {
  readonly model: string;
  readonly hold: NanoUsd;
}

/** The results of parallel calls. */
export interface RaceResult {
  /** The cost of each answer. */
  readonly costs: readonly NanoUsd[];
  /** Refusals by code. */
  readonly refused: Readonly<Record<string, number>>;
  /** Calls without a whole answer. */
  readonly lost: number;
}

function bodyOf(model: string): object {
  return {
    model,
    max_tokens: 16,
    messages: [{ role: "user", content: "Answer with one word." }],
  };
}

/** The time of a call, unless the drill stops before. */
function within(stop: AbortSignal): AbortSignal {
  return AbortSignal.any([stop, AbortSignal.timeout(CALL_MS_MAX)]);
}

async function post(
  { key, stop }: Caller,
  address: string,
  request: { readonly path: string; readonly body: object },
): Promise<Response> {
  return await fetch(`${address}${request.path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(request.body),
    signal: within(stop),
  });
}

/**
 * The call that the drill repeats: of this model, or of the cheapest that the installation offers.
 * @throws Error if there is none that costs money
 */
export async function chooseCall(caller: Caller, model: string | null): Promise<DrilledCall> {
  const ids = model === null ? await offeredModels(caller) : [model];
  const quoted = await Promise.all(ids.slice(0, QUOTED_MODELS).map((id) => quote(caller, id)));
  const [cheapest] = quoted
    .flatMap((call) => (call === null || call.hold <= ZERO ? [] : [call]))
    .toSorted((a, b) => (a.hold < b.hold ? -1 : 1));
  if (cheapest !== undefined) return cheapest;
  throw new Error(
    model === null
      ? "No model costs money: name one with --model"
      : `The model ${model} cannot be called, or costs nothing`,
  );
}

async function offeredModels(caller: Caller): Promise<readonly string[]> {
  const [address = ""] = caller.addresses;
  const reply = await fetch(`${address}/v1/models`, {
    headers: { authorization: `Bearer ${caller.key}` },
    signal: within(caller.stop),
  });
  if (!reply.ok) throw new Error(`${address}/v1/models answered ${reply.status}`);
  const { data = [] } = (await reply.json()) as { data?: readonly { readonly id: string }[] };
  // The built-in model needs no provider, so its calls cost the operator nothing.
  const ids = data.map(({ id }) => id);
  return ids.includes(GUIDE_MODEL) ? [GUIDE_MODEL] : ids;
}

async function quote(caller: Caller, model: string): Promise<DrilledCall | null> {
  const [address = ""] = caller.addresses;
  const body = { path: CHAT, body: bodyOf(model) };
  const reply = await post(caller, address, { path: "/v1/quote", body });
  if (!reply.ok) return null;
  // The digits of the amount: a float would round them.
  const digits = /"hold_usd":\s*([0-9.]+)/.exec(await reply.text())?.[1];
  return digits === undefined ? null : { model, hold: usd(digits) };
}

/** Sends calls at the same time, to all addresses in turn. `answered` is called at each answer. */
export async function raceCalls(
  caller: Caller,
  { model, calls }: { readonly model: string; readonly calls: number },
  answered: (count: number) => void,
): Promise<RaceResult> {
  const { addresses } = caller;
  const costs: NanoUsd[] = [];
  const refused: Record<string, number> = {};
  let lost = 0;
  const request = { path: CHAT, body: bodyOf(model) };
  await Promise.all(
    Array.from({ length: calls }, async (_, index) => {
      try {
        const address = addresses[index % addresses.length] ?? "";
        const reply = await post(caller, address, request);
        const body = (await reply.json()) as { error?: { code?: string; type?: string } };
        if (reply.ok) {
          costs.push(usd(reply.headers.get("x-svc-cost-usd") ?? "0"));
          answered(costs.length);
          return;
        }
        const code = body.error?.code ?? body.error?.type ?? String(reply.status);
        refused[code] = (refused[code] ?? 0) + 1;
      } catch {
        // The call counts as lost, because a serving process may be killed meanwhile.
        lost += 1;
      }
    }),
  );
  return { costs, refused, lost };
}

interface ForgedEvent {
  readonly path: string;
  /** The header of the signature. */
  readonly header: string;
  readonly event: object;
  readonly nowMs: number;
  readonly stop: AbortSignal;
}

/** Sends an event of payment with a false signature, and returns the answer. */
export async function forgeEvent(
  address: string,
  { path, header, event, nowMs, stop }: ForgedEvent,
): Promise<{ readonly isTaken: boolean; readonly status: number }> {
  // The time of the event is now: only the signature is wrong.
  const signature = `t=${Math.floor(nowMs / 1_000)},v1=${"0".repeat(64)}`;
  const reply = await fetch(`${address}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", [header]: signature },
    body: JSON.stringify(event),
    signal: within(stop),
  });
  await reply.arrayBuffer();
  return { isTaken: reply.ok, status: reply.status };
}

// Defines the states of an account, and every event that changes them (SPEC 3.1). The decisions of
// the code, the table in docs/payments.md and the tests follow from this one table.

/** `closed` is permanent: it accepts no key, no credit and no change. */
export type AccountState = "active" | "suspended" | "closed";

/**
 * The reasons why an account is suspended or closed. A dispute suspends an account while the
 * dispute is open. An owed amount is not a suspension: each admission reads it in the wallet, while
 * a reason would reach Redis only with the next access document.
 */
const STATE_REASONS = {
  operator: "operator",
  dispute: "dispute",
  negativeBalance: "negative_balance",
} as const;
export type StateReason = (typeof STATE_REASONS)[keyof typeof STATE_REASONS];

/** A state with its reason, as it is stored. */
export interface StoredState {
  readonly state: AccountState;
  readonly stateReason: string | null;
}

/** The states, distinguished by the events that each allows next. */
export const STANDINGS = {
  active: { state: "active", stateReason: null, title: "active" },
  disputed: {
    state: "suspended",
    stateReason: STATE_REASONS.dispute,
    title: "suspended by a dispute",
  },
  stopped: {
    state: "suspended",
    stateReason: STATE_REASONS.operator,
    title: "suspended by an operator",
  },
  negative: {
    state: "suspended",
    stateReason: STATE_REASONS.negativeBalance,
    title: "suspended: a balance below zero",
  },
  closed: { state: "closed", stateReason: STATE_REASONS.operator, title: "closed" },
} as const satisfies Record<string, StoredState & { readonly title: string }>;

export type Standing = keyof typeof STANDINGS;

/** An event changes nothing, or it is refused for a reason. */
type Same = "same";
interface Refused {
  readonly refused: string;
}

interface Transitions {
  /** The event in the words of the documentation. */
  readonly title: string;
  readonly to: Readonly<Record<Standing, Standing | Same | Refused>>;
}

const CLOSED = { refused: "closed permanently" } as const;
const BY_DISPUTE = {
  refused: "suspended by a dispute: an operator cannot resume it before the dispute is decided",
} as const;

export const ACCOUNT_EVENTS = {
  disputeOpened: {
    title: "a dispute opens",
    to: { active: "disputed", disputed: "same", stopped: "same", negative: "same", closed: "same" },
  },
  disputesDecided: {
    title: "its last open dispute is decided",
    to: { active: "same", disputed: "active", stopped: "same", negative: "same", closed: "same" },
  },
  balanceBelowZero: {
    title: "a balance below zero is found, which cannot happen",
    to: {
      active: "negative",
      disputed: "negative",
      stopped: "same",
      negative: "same",
      closed: "same",
    },
  },
  suspend: {
    title: "an operator suspends it",
    to: {
      active: "stopped",
      disputed: "stopped",
      stopped: "same",
      negative: "stopped",
      closed: CLOSED,
    },
  },
  resume: {
    title: "an operator resumes it",
    to: {
      active: "same",
      disputed: BY_DISPUTE,
      stopped: "active",
      negative: "active",
      closed: CLOSED,
    },
  },
  resumeWhileDisputed: {
    title: "an operator resumes it while a dispute is open",
    to: {
      active: "same",
      disputed: BY_DISPUTE,
      stopped: "disputed",
      negative: "disputed",
      closed: CLOSED,
    },
  },
  close: {
    title: "its holder or an operator closes it, with no open call and nothing owed",
    to: {
      active: "closed",
      disputed: "closed",
      stopped: "closed",
      negative: "closed",
      closed: "same",
    },
  },
} as const satisfies Record<string, Transitions>;

export type AccountEvent = keyof typeof ACCOUNT_EVENTS;

/** The standing of a stored state; a reason that no release has written is an operator's. */
export function standingOfState({ state, stateReason }: StoredState): Standing {
  if (state !== "suspended") return state;
  if (stateReason === STATE_REASONS.dispute) return "disputed";
  return stateReason === STATE_REASONS.negativeBalance ? "negative" : "stopped";
}

export type AfterEvent =
  | { readonly kind: "same" }
  | { readonly kind: "changed"; readonly to: StoredState }
  | { readonly kind: "refused"; readonly why: string };

/** Returns an account's next state after an event, or the reason why the event is refused. */
export function afterEvent(account: StoredState, event: AccountEvent): AfterEvent {
  const { to }: Transitions = ACCOUNT_EVENTS[event];
  const next = to[standingOfState(account)];
  if (next === "same") return { kind: "same" };
  if (typeof next === "object") return { kind: "refused", why: next.refused };
  const { state, stateReason } = STANDINGS[next];
  return { kind: "changed", to: { state, stateReason } };
}

/** The stored states that an event changes, for a statement that changes many accounts at once. */
export function statesChangedBy(event: AccountEvent): readonly StoredState[] {
  const names = Object.keys(STANDINGS) as Standing[];
  return names.flatMap((name) =>
    afterEvent(STANDINGS[name], event).kind === "changed" ? [STANDINGS[name]] : [],
  );
}

// The only code that touches an account's keys. Each process has one actor per account. Two
// processes may have one for the same account: the scripts decide between them, so an actor keeps
// no balance, only the access document.

import {
  type AccessDocument,
  type AccessKey,
  decideAccess,
  lacksAllowance,
  parseDocument,
} from "../src/core/access/access.ts";
import { type Budget, NO_BUDGETS } from "../src/core/access/budgets.ts";
import {
  type AccessRefusal,
  DISABLED,
  type ModelPatterns,
  type PresentRates,
} from "../src/core/access/key-limits.ts";
import { invalidKey } from "../src/core/access/keys.ts";
import type { ApiError } from "../src/core/errors.ts";
import { type NanoUsd, ZERO } from "../src/core/money/money.ts";
import {
  type Account,
  type AccountView,
  type Asking,
  type AskingCall,
  type CallTerms,
  type CallView,
  type Decision,
  ModelsChanged,
  type QuotedDecision,
  type Settlement,
  type WholeResponse,
} from "./account.ts";
import {
  accessCall,
  budgetsOfCall,
  capOf,
  heldBudgets,
  limitsOf,
  markersOf,
  markersOfCall,
  NO_MARKERS,
  ratesNow,
} from "./account-limits.ts";
import { type AccountUse, ownedBudgets, readTokensToday, readUse } from "./account-use.ts";
import { type Viewer, viewOf } from "./account-view.ts";
import { NamedBudgets, NOTHING_NAMED } from "./named-budgets.ts";
import { type Ending, type HoldAccount, OpenHold, releaseWhenBack } from "./open-hold.ts";
import type { LeasedAccount, ProcessLeases } from "./process-leases.ts";
import { quotedDecision } from "./quoted-decision.ts";
import { type CallTexts, KeyTexts } from "./records/key-texts.ts";
import { MAIL_OWNER } from "./records/keys.ts";
import { inactive, MONEY_REFUSALS, moneyLimit, refusalError } from "./refusal.ts";
import type { RefusalBrake } from "./refusal-brake.ts";
import { type AdmitArgs, type AdmitReply, admit, type ToRepeat } from "./scripts/admit-script.ts";
import { endResponse, type HoldRef, type ViewReply } from "./scripts/call-scripts.ts";
import type { ScriptTime } from "./scripts/script.ts";
import { unavailable } from "./scripts/script-run.ts";
import { fromPostgres, mayHaveRun, type ScriptRunner } from "./scripts/script-runner.ts";
import { type TopUpListener, TopUpTrigger } from "./top-up-trigger.ts";
import { waitingOf } from "./waiting-settlement.ts";
import { type UpkeepDeps, WalletUpkeep } from "./wallet-upkeep.ts";

export interface ActorDeps extends UpkeepDeps {
  /** The holds of this process. */
  readonly leases: ProcessLeases;
  /** Keys that are refused again and again. */
  readonly brake: RefusalBrake;
  /** Called for each failed attempt to deliver a settlement. The actor tries again by itself. */
  readonly onSettleRetry: (requestId: string, error: unknown) => void;
  /** Called if Postgres does not take a settlement that Redis did not take. */
  readonly onNotKept: (requestId: string, error: unknown) => void;
  /** Checks automatic top-ups; without it no account is topped up. */
  readonly topUps?: TopUpListener;
  /** The monthly grant of the Free plan; zero turns the grant off. */
  readonly allowance: NanoUsd;
}

/** The access document as this process knows it. */
interface Access {
  readonly version: number;
  readonly document: AccessDocument;
  /** By key id, for keys that have made calls. */
  readonly texts: Map<string, KeyTexts>;
  readonly named: NamedBudgets;
}

/** The arguments of the admission script, and the fields that reading its reply needs. */
interface Attempt extends AdmitArgs {
  readonly access: Access;
  readonly key: AccessKey;
  readonly rates: PresentRates;
  readonly refusal: AccessRefusal | null;
  readonly metadata: string;
}

/** Sanity limit: a document never changes this often during one request. */
const ATTEMPTS_MAX = 20;

export class AccountActor extends WalletUpkeep implements Account, HoldAccount, LeasedAccount {
  #access: Access | null = null;
  #granting: Promise<void> | null = null;
  readonly #topUps: TopUpTrigger;
  /** The number of calls of this process that hold money now. */
  openCalls = 0;

  constructor(
    override readonly deps: ActorDeps,
    accountId: string,
    readonly bucket: number,
  ) {
    super(deps, accountId, bucket);
    this.#topUps = new TopUpTrigger({ accountId, bucket }, deps.topUps);
  }

  get scripts(): ScriptRunner {
    return this.deps.scripts;
  }

  get scriptTime(): () => ScriptTime {
    return this.deps.scriptTime;
  }

  admit(asking: Asking): Promise<Decision> {
    const { call, terms } = asking;
    if (terms.isDetached === true && terms.bound === ZERO && terms.refusal === undefined) {
      const message = `The detached hold of ${call.requestId} would hold nothing`;
      return Promise.reject(new RangeError(message));
    }
    const refused = this.deps.brake.refuse(call);
    return refused === null ? this.#decide(asking, false) : Promise.resolve(refused);
  }

  quote(asking: Asking): Promise<QuotedDecision> {
    return this.#decide(asking, true);
  }

  #decide(asking: Asking, isQuote: false): Promise<Decision>;
  #decide(asking: Asking, isQuote: true): Promise<QuotedDecision>;
  async #decide(asking: Asking, isQuote: boolean): Promise<Decision | QuotedDecision> {
    const { call, terms, elapsedMs } = asking;
    let readsLeft = 2;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const access = this.#access ?? (await this.#refresh());
      const key = access.document.keys.get(call.identity.keyId);
      if (key === undefined) {
        await this.#confirmUnknownKey(call.identity.keyId);
        continue;
      }
      checkChosen(key, terms);
      const nowMs = this.deps.clock.now();
      if (readsLeft > 0 && lacksAllowance(access.document, nowMs)) {
        // Read the document again first: a key that was revoked meanwhile must not trigger the
        // grant.
        readsLeft -= 1;
        if (readsLeft === 0) await this.#grantAllowance();
        await this.#refresh();
        continue;
      }
      const decided = decideAccess(access.document, key, accessCall(asking, nowMs));
      const { tier, refusal: byAccess } = decided;
      const naming = { asking, document: access.document, key, nowMs, isQuote };
      const named =
        byAccess === null ? access.named.decide(naming) : { ...NOTHING_NAMED, refusal: byAccess };
      const { refusal, budgets: byName, endUser } = named instanceof Promise ? await named : named;
      const limits = limitsOf(asking, tier, key);
      const budgets = budgetsOfCall(terms, key.budgets, { refusal, named: byName });
      const markers = isQuote ? NO_MARKERS : markersOfCall(asking, refusal);
      const ref = this.#holdRef(asking, budgets, markers);
      const { metadata, text } = this.#textsOf(access, asking, endUser);
      const tried: Attempt = {
        call,
        terms,
        elapsedMs,
        isQuote,
        key,
        access,
        tier,
        ...ratesNow(key, tier, nowMs),
        limits,
        cap: capOf(access.document, tier),
        ref,
        metadata,
        text,
        refusal,
        nowMs: this.scriptTime(),
        aboutMs: nowMs,
        version: access.version,
        budget: key.monthlyLimit,
        budgets,
        markers,
      };
      const isUntracked = isQuote || terms.isDetached === true;
      if (!isUntracked) this.deps.leases.opening(this.bucket, call.requestId);
      let reply: AdmitReply | null = null;
      try {
        reply = await this.scripts.run(admit, tried);
      } catch (error) {
        // Redis may have run the script, or may still run it. Release the hold without waiting for
        // the lease to end. While Redis is away nothing is sent, and so nothing is released.
        if (!isQuote && mayHaveRun(error)) void releaseWhenBack(this, ref, limits);
        throw error;
      } finally {
        if (reply?.verdict !== "ok" && !isUntracked)
          this.deps.leases.closed(this.bucket, call.requestId);
      }
      if (reply.verdict === "hydrate") await this.hydrate();
      else if (reply.verdict === "stale") await this.#refresh();
      else if (reply.verdict === "budgets") await this.loadBudgets(budgets);
      else if (reply.verdict === "markers") await this.loadMarkers();
      else if (reply.verdict === "begin") await access.named.begin(naming, budgets);
      else if (reply.verdict === "lease") await this.deps.leases.take(this.keys);
      else if (reply.verdict === "late") this.deps.clock.observe(reply.nowMs);
      else return this.#answer(reply, tried);
    }
    throw unavailable(new Error(`${call.requestId}: the account changes all the time`));
  }

  async view(keyId: string): Promise<AccountView> {
    const state = await this.state(keyId);
    return this.#viewIn(state, { access: this.#accessIn(state).document, keyId });
  }

  async viewFor(call: AskingCall): Promise<CallView> {
    const { keyId } = call.identity;
    const state = await this.state(keyId);
    const { document, named } = this.#accessIn(state);
    const budgets = await named.ofView({ call, document, nowMs: state.nowMs });
    const view = await this.#viewIn(state, { access: document, keyId });
    const { accountId: account, bucket } = this;
    const isCounted = view.key.tokensPerDay !== null;
    const tokensToday = isCounted
      ? await readTokensToday(this.scripts.redis, state, { account, bucket, keyId })
      : 0;
    return { ...view, named: await this.budgetUse(budgets), tokensToday };
  }

  async #viewIn(state: ViewReply, viewer: Viewer): Promise<AccountView> {
    const budgets = viewer.access.keys.get(viewer.keyId)?.budgets ?? NO_BUDGETS;
    return viewOf(this.accountId, state, { ...viewer, budgets: await this.budgetUse(budgets) });
  }

  async endResponse({ requestId }: WholeResponse, markers: readonly string[]): Promise<void> {
    const [marker] = markers;
    if (marker === undefined) return;
    await this.scripts.run(endResponse, { keys: this.keys, marker, requestId });
  }

  async modelsOf(keyId: string): Promise<ModelPatterns> {
    const { document } = this.#access ?? (await this.#refresh());
    return document.keys.get(keyId)?.models ?? null;
  }

  /** Returns the use that the account and these keys make of their limits now. */
  async use(keyIds: readonly string[]): Promise<AccountUse> {
    const { accountId: account, bucket } = this;
    const state = await this.state();
    const use = await readUse(this.scripts.redis, state, { account, bucket, keyIds });
    const owned = ownedBudgets(parseDocument(state.document));
    const budgets = await this.budgetUse(owned);
    return {
      ...use,
      budgets: budgets.map((one, at) => ({ ...one, key: owned[at]?.key ?? null })),
    };
  }

  async checkAccess(): Promise<(keyId: string) => ApiError | null> {
    const { document } = await this.#refresh();
    return (keyId) => {
      const key = document.keys.get(keyId);
      if (key === undefined) return invalidKey();
      // A call may outlive the end of its key.
      if (key.isDisabled) return invalidKey(DISABLED);
      return document.state === "active" ? null : inactive(document.state);
    };
  }

  async ensureWallet(): Promise<void> {
    await this.state();
  }

  closed(hold: OpenHold): void {
    if (hold.terms.ref.owner !== this.deps.leases.owner) return;
    this.openCalls -= 1;
    this.deps.leases.ended(this.bucket, hold.id);
  }

  onSettled({ ownedPaid }: Pick<Settlement, "ownedPaid">): void {
    // The access document may be missing: a process that settles for others has not admitted a
    // call.
    if (ownedPaid === null || this.deps.topUps === undefined) return;
    if (this.#access === null) void this.#checkTopUp(ownedPaid);
    else this.#topUps.settled(this.#access.document.autoTopUp, ownedPaid);
  }

  async #checkTopUp(ownedPaid: NanoUsd): Promise<void> {
    try {
      const { document } = await this.#refresh();
      this.#topUps.settled(document.autoTopUp, ownedPaid);
    } catch (error) {
      this.#topUps.failed(error);
    }
  }

  saveCost(hold: OpenHold): void {
    void this.deps.leases.saveCost(this.bucket, hold);
  }

  onSettleRetry(requestId: string, error: unknown): void {
    this.deps.onSettleRetry(requestId, error);
  }

  async keepSettlement(hold: OpenHold, ending: Ending): Promise<boolean> {
    const { repository, onNotKept } = this.deps;
    try {
      await repository.waiting.keep(waitingOf(this.accountId, hold, ending));
      return true;
    } catch (error) {
      onNotKept(hold.id, error);
      return false;
    }
  }

  removeSettlement(requestId: string): Promise<void> {
    return this.deps.repository.waiting.remove(requestId);
  }

  #answer(
    reply: Exclude<AdmitReply, { verdict: ToRepeat | "late" }>,
    attempt: Attempt,
  ): Decision | QuotedDecision {
    const { call, terms, access, rates, tier, limits, cap, budget, budgets, ref, refusal } =
      attempt;
    const { keyId } = call.identity;
    if (reply.verdict === "short") {
      if (terms.isAhead === true) this.deps.brake.notePass(keyId);
      return { verdict: "short", funds: reply };
    }
    this.deps.clock.observe(reply.nowMs);
    const { rate } = reply;
    if (reply.verdict === "quote") {
      const { ownCap } = access.document;
      return quotedDecision(reply, terms, { tier, key: rates, access: refusal, budgets, ownCap });
    }
    if (reply.verdict === "refused") {
      const { accountId, keys } = this;
      const { windowLimit: limit, metadata } = attempt;
      this.deps.brake.note({ accountId, keys, keyId, metadata, limit }, reply);
      const isAsked = this.#topUps.refused(access.document.autoTopUp, reply, terms);
      const refusedBy = moneyLimit(reply, budgets);
      const context = { tier, key: rates, access: refusal, isAsked, refusedBy };
      const error = refusalError(reply, terms, context);
      const { spendable } = reply;
      const funds = MONEY_REFUSALS.has(reply.code) ? { spendable, refusedBy } : null;
      return { verdict: "refused", error, rate, funds };
    }
    const { stream, isDetached = false } = terms;
    const hold = new OpenHold(this, {
      ref,
      text: attempt.text,
      metadata: attempt.metadata,
      stream,
      limits,
      paid: reply.paid,
      free: reply.free,
      admittedAtMs: reply.admittedAtMs,
      cap,
      budget,
      budgets: heldBudgets(budgets, reply.spanStarts),
    });
    if (!isDetached) {
      this.openCalls += 1;
      this.deps.leases.opened(this.bucket, hold, this);
    }
    return { verdict: "admitted", hold, rate, models: attempt.key.models };
  }

  #holdRef(
    { call: { requestId, identity, partOf }, terms }: Asking,
    budgets: readonly Budget[],
    markers: readonly string[],
  ): HoldRef {
    const { keyId } = identity;
    const owner = terms.isDetached === true ? MAIL_OWNER : this.deps.leases.owner;
    const hasBudgets = budgets.length > 0;
    const { accountId: account, keys } = this;
    const marker = markers[0] ?? null;
    return { account, keys, keyId, requestId, owner, hasBudgets, marker, partOf };
  }

  /** Grants the allowance of the Free plan if it is still due. Concurrent calls share one grant. */
  #grantAllowance(): Promise<void> {
    this.#granting ??= this.#grant().finally(() => {
      this.#granting = null;
    });
    return this.#granting;
  }

  /**
   * The month is taken from Redis's clock, which also decides when the credit ends. The credit is
   * applied before the document says that it was granted: if the process dies in between, the next
   * call repeats the grant.
   */
  async #grant(): Promise<void> {
    const { allowance, repository } = this.deps;
    const { nowMs, document } = await this.state();
    if (allowance === ZERO || !lacksAllowance(parseDocument(document), nowMs)) return;
    await fromPostgres(repository.grantAllowance(this.accountId, nowMs, allowance));
    await this.applyOperations();
    await fromPostgres(this.configure());
  }

  /**
   * Reads the document that Redis has, to learn of keys that another process created or revoked.
   */
  async #refresh(): Promise<Access> {
    return this.#accessIn(await this.state());
  }

  /** The access document of this state: the one in memory if it has the same version. */
  #accessIn(state: ViewReply): Access {
    return this.#access?.version === state.wallet.version ? this.#access : this.#adopt(state);
  }

  async #confirmUnknownKey(keyId: string): Promise<void> {
    const fresh = await this.#refresh();
    if (!fresh.document.keys.has(keyId)) throw invalidKey();
  }

  #adopt({ wallet: { version }, document }: ViewReply): Access {
    const named = new NamedBudgets(this.accountId, this.deps.repository);
    this.#access = { version, document: parseDocument(document), texts: new Map(), named };
    return this.#access;
  }

  #textsOf({ texts }: Access, asking: Asking, endUser?: string): CallTexts {
    const { keyId } = asking.call.identity;
    let known = texts.get(keyId);
    if (known === undefined) {
      known = new KeyTexts(this.accountId, keyId);
      texts.set(keyId, known);
    }
    return known.of(asking, markersOf(asking)[0], endUser);
  }
}

/** Throws if the service chose among other models than the key may call now. */
function checkChosen({ id, models }: AccessKey, { chosenFor }: CallTerms): void {
  if (chosenFor === undefined || String(models) === String(chosenFor.patterns)) return;
  throw new ModelsChanged(`${id} may call other models now`);
}

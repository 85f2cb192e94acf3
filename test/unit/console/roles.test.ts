// Tests which roles may call each endpoint of the console: every endpoint has a row here, and an
// endpoint without a row fails. A stranger gets the same error as for an unknown account.

import { expect, test } from "bun:test";
import { mayAct, ROLES, type Role } from "../../../src/core/access/roles.ts";
import { CONSOLE } from "../../../src/routes.ts";
import { ConsoleWorld } from "../../support/api/console-world.ts";
import { shared } from "../../support/shared.ts";

/** The lowest role that may call an endpoint of an account; null for any signed-in person. */
const NEEDED: Readonly<Record<string, Role | null>> = {
  signUp: null,
  verifySignUp: null,
  signIn: null,
  signInByLink: null,
  beginPasskeySignIn: null,
  beginSso: null,
  signInBySso: null,
  showSso: null,
  signInByPasskey: null,
  sendCode: null,
  signInByCode: null,
  enterSecondFactor: null,
  enterBackupCode: null,
  enableSecondFactor: null,
  disableSecondFactor: null,
  renewBackupCodes: null,
  requestPasswordReset: null,
  resetPassword: null,
  changePassword: null,
  signOut: null,
  me: null,
  renameMe: null,
  chooseLanguage: null,
  proveMe: null,
  askForEmailChange: null,
  changeEmail: null,
  listSessions: null,
  endSession: null,
  endOtherSessions: null,
  listPasskeys: null,
  beginPasskey: null,
  addPasskey: null,
  removePasskey: null,
  openAccount: null,
  renameAccount: "admin",
  closeAccount: "owner",
  team: "viewer",
  invite: "admin",
  withdrawInvitation: "admin",
  acceptInvitation: null,
  changeRole: "admin",
  removeMember: "admin",
  leaveAccount: "viewer",
  activity: "owner",
  listConsoleModels: null,
  listKeys: "viewer",
  createKey: "admin",
  revokeKey: "admin",
  renameKey: "admin",
  setKeyLimits: "admin",
  getLimits: "viewer",
  setOwnCap: "owner",
  setAccountBudget: "owner",
  setKeyBudget: "admin",
  listEndUserBudgets: "viewer",
  getEndUser: "viewer",
  setEndUserBudget: "owner",
  addBurnRule: "admin",
  listBurnAlarms: "viewer",
  listBurnRules: "viewer",
  removeBurnRule: "admin",
  resumeKey: "admin",
  changeRun: "admin",
  getConsoleRun: "viewer",
  listRuns: "viewer",
  getBilling: "viewer",
  listPaymentDocuments: "viewer",
  startCheckout: "billing",
  chargeCard: "billing",
  getTopUp: "viewer",
  removeCard: "billing",
  enableAutoTopUp: "billing",
  disableAutoTopUp: "billing",
  getPlan: "viewer",
  orderPlan: "billing",
  cancelPlan: "billing",
  redeemVoucher: "billing",
  callFromPlayground: "billing",
  estimateFromPlayground: "billing",
  getOverview: "viewer",
  getUsage: "viewer",
  exportUsage: "viewer",
  exportFocus: "viewer",
  listRequests: "viewer",
  exportRequests: "viewer",
  getRequest: "viewer",
  getIssuedReceipt: "viewer",
  getStatement: "viewer",
  listLedger: "viewer",
  listWebhooks: "admin",
  createWebhook: "admin",
  changeWebhook: "admin",
  rotateWebhook: "admin",
  deleteWebhook: "admin",
  testWebhook: "admin",
  listDeliveries: "admin",
  replayWebhook: "admin",
  replayDelivery: "admin",
};

const MISSING = "acct_7n42DGM5Tflk9n8mt7Fhc7";

const world = await shared(ConsoleWorld.start());

type Endpoint = (typeof CONSOLE)[number];

async function call({ method, path }: Endpoint, account: string, who: string | null) {
  const filled = path.replace("{account}", account).replaceAll(/\{\w+\}/g, "none");
  const { url } = world.api.parts;
  const response = await fetch(url + filled, {
    method,
    headers: {
      ...(who !== null && { cookie: `session=${who}` }),
      ...(method === "POST" && { "content-type": "application/json", origin: url }),
    },
    ...(method === "POST" && { body: "{}" }),
  });
  const text = await response.text();
  return { status: response.status, text, code: /"code":"(\w+)"/.exec(text)?.[1] };
}

test("every endpoint of the console has its row, with the role that it requires", () => {
  const asked = Object.fromEntries(CONSOLE.map(({ id, role }) => [id, role]));
  expect(asked).toEqual(NEEDED as Record<string, Role | null>);
});

test.each(
  CONSOLE.filter(({ access }) => access === "session").map((one) => [one.id, one] as const),
)("%s answers nobody without a session", async (_, endpoint) => {
  const answer = await call(endpoint, MISSING, null);
  expect([answer.status, answer.code]).toEqual([401, "not_signed_in"]);
});

const OF_ACCOUNTS = CONSOLE.filter(({ role }) => role !== null);

test.each(OF_ACCOUNTS.map((one) => [one.id, one] as const))(
  "%s is for members with its role, and unknown to strangers",
  async (id, endpoint) => {
    const account = await world.account({ paid: "5" });
    const stranger = await call(endpoint, account.id, "stranger");
    const missing = await call(endpoint, MISSING, "stranger");
    expect(stranger.status).toBe(404);
    expect(stranger.text.replaceAll(account.id, MISSING)).toBe(missing.text);
    const needed = NEEDED[id] ?? "owner";
    for (const role of ROLES) {
      if (mayAct(role, needed)) continue;
      const answer = await call(endpoint, account.id, role);
      expect([role, answer.status, answer.code]).toEqual([role, 403, "role_required"]);
    }
    const allowed = await call(endpoint, account.id, needed);
    expect(["not_signed_in", "account_not_found", "role_required"]).not.toContain(
      allowed.code ?? "",
    );
    expect(allowed.status).toBeLessThan(500);
  },
);

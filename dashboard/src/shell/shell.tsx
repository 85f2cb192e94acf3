// The frame of every page of an account.

import { Kbd, Modal } from "@mantine/core";
import { Link, Navigate, useNavigate, useParams, useRouterState } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { BRAND } from "../brand.ts";
import { useKeptVoucher } from "../kept-voucher.ts";
import { Brand } from "../parts/mark.tsx";
import { Facts } from "../parts/panel.tsx";
import { useAccount, useMe } from "../session.tsx";
import { t } from "../texts.ts";
import { AccountState } from "./account-state.tsx";
import { Frame } from "./frame.tsx";
import { Jump } from "./jump.tsx";
import { useKeys } from "./keys.ts";
import { useAccountLoss, useSessionEnd } from "./leave.ts";
import { PAGE_NAMES, PAGES, pathOf } from "./pages.ts";
import { Side } from "./side.tsx";

const VoucherOfLink = lazy(async () => ({
  default: (await import("./voucher-of-link.tsx")).VoucherOfLink,
}));

/** The frame, unless the account was lost while its page was open. */
export function Shell() {
  const { accounts } = useMe();
  const { account } = useParams({ strict: false });
  if (accounts.every(({ id }) => id !== account)) return <Navigate to="/" replace />;
  return <AccountFrame />;
}

function AccountFrame() {
  const account = useAccount();
  const { shown, hide } = useShortcuts(account.id);
  const voucher = useKeptVoucher();
  useTitle();
  useSessionEnd();
  useAccountLoss();
  return (
    <>
      <Frame
        title={BRAND.name}
        home={
          <Link to="/$account/overview" params={{ account: account.id }} className="brand">
            <Brand />
          </Link>
        }
        side={(close) => <Side account={account} close={close} />}
        notice={<AccountState account={account.id} />}
        subject={account.id}
      />
      <Jump opened={shown === "jump"} close={hide} account={account.id} />
      <KeyboardList opened={shown === "keyboard"} close={hide} />
      {voucher !== null && (
        <Suspense fallback={null}>
          <VoucherOfLink account={account} code={voucher} />
        </Suspense>
      )}
    </>
  );
}

/** `g` and a letter opens a page, `n` makes a key, `/` finds, `?` lists them. */
function useShortcuts(account: string) {
  const [shown, show] = useState<"jump" | "keyboard" | null>(null);
  const navigate = useNavigate();
  const params = { account };
  useKeys({
    keys: {
      "/": () => show("jump"),
      "?": () => show("keyboard"),
      n: () => void navigate({ to: pathOf("keys"), params, search: { new: "key" } }),
    },
    afterG: Object.fromEntries(
      PAGE_NAMES.map((name) => [
        PAGES[name].letter,
        () => void navigate({ to: pathOf(name), params }),
      ]),
    ),
  });
  return { shown, hide: () => show(null) };
}

/** Names the window after the page that is open. */
function useTitle() {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(() => {
    const name = path.split("/").at(-1) ?? "";
    const pages: Readonly<Record<string, string>> = t.nav.pages;
    document.title = pages[name] === undefined ? BRAND.name : `${pages[name]} · ${BRAND.name}`;
  }, [path]);
}

/** The list of keys that `?` shows. */
function KeyboardList({ opened, close }: { opened: boolean; close: () => void }) {
  const { "/": jump, ...others } = t.keyboard.keys;
  const keys = [
    ["/", jump],
    ...PAGE_NAMES.map((name) => [`g ${PAGES[name].letter}`, t.nav.pages[name]]),
    ...Object.entries(others),
  ];
  return (
    <Modal opened={opened} onClose={close} title={t.keyboard.title} size="sm">
      <Facts rows={keys.map(([key, what]) => [<Kbd key={key}>{key}</Kbd>, what])} />
    </Modal>
  );
}

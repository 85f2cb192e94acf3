// The search that `/` opens: the name of a page, or the id of a request.

import { Modal, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { t } from "../texts.ts";
import { PAGE_NAMES, type PageName, pathOf } from "./pages.ts";

interface JumpProps {
  readonly opened: boolean;
  readonly close: () => void;
  readonly account: string;
}

const REQUEST_ID = /^req_\w+$/;

export function Jump({ opened, close, account }: JumpProps) {
  return (
    <Modal opened={opened} onClose={close} title={t.keyboard.jump}>
      <JumpForm close={close} account={account} />
    </Modal>
  );
}

function JumpForm({ close, account }: Omit<JumpProps, "opened">) {
  const [text, setText] = useState("");
  const navigate = useNavigate();
  const wanted = text.trim();
  const isRequest = REQUEST_ID.test(wanted);
  const pages = PAGE_NAMES.filter((page) =>
    t.nav.pages[page].toLowerCase().includes(wanted.toLowerCase()),
  );
  const go = (page: PageName) => {
    close();
    void navigate({ to: pathOf(page), params: { account } });
  };
  const openRequest = () => {
    close();
    void navigate({ to: pathOf("requests"), params: { account }, search: { open: wanted } });
  };
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        const [first] = pages;
        if (isRequest) openRequest();
        else if (first !== undefined) go(first);
      }}
    >
      <TextInput
        data-autofocus
        aria-label={t.keyboard.jump}
        placeholder={t.keyboard.jumpPlaceholder}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <ul className="nav-list">
        {isRequest && (
          <li>
            <button type="button" className="nav-link row-link" onClick={openRequest}>
              {t.keyboard.openRequest(wanted)}
            </button>
          </li>
        )}
        {pages.map((page) => (
          <li key={page}>
            <button type="button" className="nav-link row-link" onClick={() => go(page)}>
              {t.nav.pages[page]}
            </button>
          </li>
        ))}
      </ul>
      {!isRequest && pages.length === 0 && <p className="dim small">{t.keyboard.nothing}</p>}
    </form>
  );
}

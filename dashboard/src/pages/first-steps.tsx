// The first steps of a new account: a key, a call, a payment. Each step ticks as it happens; the
// list goes after the first paid call.

import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { ModelsReply } from "../../../src/readings/models.ts";
import type { OverviewReply } from "../../../src/readings/overview.ts";
import { CLIENTS_URL } from "../addresses.ts";
import { modelsQuery } from "../api/queries.ts";
import { newKeys } from "../new-keys.ts";
import { Code } from "../parts/code.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Panel } from "../parts/panel.tsx";
import { useMe } from "../session.tsx";
import { SNIPPETS, type SnippetName, snippet } from "../snippets.ts";
import { t } from "../texts.ts";

interface FirstStepsProps {
  readonly overview: OverviewReply;
  readonly account: string;
}

export function FirstSteps({ overview, account }: FirstStepsProps) {
  const { has_key: hasKey, has_called: hasCalled, has_paid: hasPaid } = overview.first_steps;
  const open = overview.account.surface;
  return (
    <Panel title={t.work.steps.title} aside={t.work.steps.about}>
      <ol className="steps">
        <Step index={1} done={hasKey} title={t.work.steps.key}>
          {!hasKey && (
            <Link to="/$account/keys" params={{ account }} search={{ new: "key" }}>
              {t.work.steps.keyAction}
            </Link>
          )}
        </Step>
        <Step index={2} done={hasCalled} title={t.work.steps.call}>
          {hasKey && !hasCalled && <Snippets account={account} surface={open} />}
          {!hasCalled && (
            <a className="small" href={CLIENTS_URL} target="_blank" rel="noreferrer">
              {t.work.steps.clients}
            </a>
          )}
          {hasKey && !hasCalled && <p className="small dim">{t.work.steps.waiting}</p>}
        </Step>
        <Step index={3} done={hasPaid} title={t.work.steps.pay}>
          {!hasPaid && (
            <Link to="/$account/billing" params={{ account }} search={{ add: "credit" }}>
              {t.work.steps.payAction}
            </Link>
          )}
        </Step>
      </ol>
    </Panel>
  );
}

interface StepProps {
  readonly index: number;
  readonly done: boolean;
  readonly title: string;
  readonly children: ReactNode;
}

function Step({ index, done, title, children }: StepProps) {
  return (
    <li className="step" {...(done && { "data-done": "" })}>
      <span className="step-mark" aria-hidden="true">
        {done ? "✓" : index}
      </span>
      <div className="stack">
        <span className={done ? "dim" : "strong"}>
          {title}
          {done && <span className="tiny"> · {t.work.steps.done}</span>}
        </span>
        {children}
      </div>
    </li>
  );
}

interface SnippetsProps {
  readonly account: string;
  readonly surface: "gateway" | "application";
  /** The key to show; the last one that this page made if it is not said. */
  readonly keyText?: string;
}

/** Lines that work as they are: they hold the real address and the key, where this page has it. */
export function Snippets(props: SnippetsProps) {
  return (
    <Loaded query={useQuery(modelsQuery)} height={90}>
      {({ models }) => <Lines {...props} models={models} />}
    </Loaded>
  );
}

interface LinesProps extends SnippetsProps {
  readonly models: ModelsReply["models"];
}

function Lines({ account, surface, keyText, models }: LinesProps) {
  const [name, setName] = useState<SnippetName>("curl");
  const { installation } = useMe();
  const usable = models.filter((one) => one.serves === "chat" && !one.is_paused);
  const model = usable.find((one) => one.free_credit_eligible) ?? usable[0];
  const key = keyText ?? newKeys.get(account)?.key ?? null;
  const text = snippet(name, {
    baseUrl: installation.base_url,
    key,
    surface,
    model: model?.id ?? t.work.snippets.model,
  });
  return (
    <div className="stack">
      <SegmentedControl
        size="xs"
        aria-label={t.work.steps.language}
        data={SNIPPETS.map((one) => ({ value: one, label: t.work.snippets[one] }))}
        value={name}
        onChange={(value) => setName(value as SnippetName)}
      />
      <Code text={text} label={t.work.snippets[name]} />
      {key === null && <p className="small dim">{t.work.steps.ownKey}</p>}
    </div>
  );
}

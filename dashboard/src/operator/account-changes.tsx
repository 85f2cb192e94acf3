// A button for each change of an account. Each asks a question before it changes anything.

import { SegmentedControl } from "@mantine/core";
import { useState } from "react";
import { CONTRACTS, PLAN_NAMES } from "../../../src/core/access/limits.ts";
import { planTitle } from "../../../src/core/money/plan-terms.ts";
import type { OperatorAccountReply } from "../../../src/readings/operator-account.ts";
import { Panel } from "../parts/panel.tsx";
import { ot } from "../texts/operator.ts";
import { ActButton } from "./act-dialog.tsx";

const CONTRACT_CHOICES = CONTRACTS.toReversed();

export function AccountChanges({ account }: { readonly account: OperatorAccountReply }) {
  const { id } = account;
  const { state } = account.overview.account;
  const at = (name: string) => `accounts/${id}/${name}`;
  const isOpen = state !== "closed";
  return (
    <Panel title={ot.change} aside={ot.changeAbout}>
      <div className="actions">
        {isOpen && <ActButton name="credit" path={at("credit")} amount="needed" calm />}
        <ActButton name="adjust" path={at("adjust")} amount="signed" />
        <ActButton name="forgive" path={at("forgive")} amount="needed" />
        {isOpen && account.surface === "gateway" && (
          <>
            <ActButton name="grant" path={at("grant-free")} calm />
            <ContractButton account={account} />
          </>
        )}
        {isOpen && account.surface === "application" && <PlanButton account={account} />}
        {state === "active" && <ActButton name="suspend" path={at("suspend")} confirm={id} />}
        {state === "suspended" && <ActButton name="resume" path={at("resume")} calm />}
        {isOpen && <ActButton name="close" path={at("close")} confirm={id} />}
        <ActButton name="auditOne" path="audits" body={{ account: id }} calm />
      </div>
    </Panel>
  );
}

function ContractButton({ account }: { readonly account: OperatorAccountReply }) {
  const [contract, setContract] = useState<string>(account.contract ?? "none");
  return (
    <ActButton
      name="contract"
      path={`accounts/${account.id}/contract`}
      body={{ contract }}
      confirm={account.id}
    >
      <SegmentedControl
        aria-label={ot.facts.contract}
        data={CONTRACT_CHOICES.map((value) => ({ value, label: ot.contracts[value] }))}
        value={contract}
        onChange={setContract}
      />
    </ActButton>
  );
}

function PlanButton({ account }: { readonly account: OperatorAccountReply }) {
  const [plan, setPlan] = useState<string>(account.plan ?? "free");
  return (
    <ActButton
      name="plan"
      path={`accounts/${account.id}/plan`}
      body={{ plan }}
      confirm={account.id}
    >
      <SegmentedControl
        aria-label={ot.facts.tier}
        data={PLAN_NAMES.map((value) => ({ value, label: planTitle(value) }))}
        value={plan}
        onChange={setPlan}
      />
    </ActButton>
  );
}

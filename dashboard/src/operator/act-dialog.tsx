// The question before every change of an operator: what it is, why, and, where it cannot be taken
// back, the account's id or the amount typed again.

import { Button, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { ActionReply } from "../../../src/operator/act-endpoint.ts";
import { typedUsd } from "../money.ts";
import { Ask, say } from "../parts/ask.tsx";
import { ot } from "../texts/operator.ts";
import { act } from "./operator-queries.ts";

export type ActName = keyof typeof ot.acts;

interface ActProps {
  readonly name: ActName;
  /** The address below the operators' API. */
  readonly path: string;
  /** What is sent besides id, reason and amount. */
  readonly body?: object;
  readonly amount?: "needed" | "signed" | "optional";
  /** What must be typed; an amount is typed again by itself. */
  readonly confirm?: string;
  /** True for what is easily taken back. */
  readonly calm?: boolean;
  readonly children?: ReactNode;
  readonly disabled?: boolean;
  readonly close: () => void;
}

/** The id of the change is made once, so that a second click changes nothing more. */
export function ActDialog(props: ActProps) {
  const { name, path, body = {}, amount, confirm, calm = false, children, close } = props;
  const words = ot.acts[name];
  const [id] = useState(() => `op_${crypto.randomUUID()}`);
  const [reason, setReason] = useState("");
  const [typed, setTyped] = useState("");
  const [usd, setUsd] = useState("");
  const needsAgain = amount !== undefined && usd.trim() !== "";
  const wanted = needsAgain ? usd.trim() : confirm;
  const isReady =
    reason.trim() !== "" &&
    (wanted === undefined || typed.trim() === wanted) &&
    (amount === undefined || amount === "optional" || usd.trim() !== "") &&
    props.disabled !== true;
  const run = async () => {
    const amount_usd = usd.trim() === "" ? undefined : plainUsd(usd);
    const order = { ...body, id, reason, ...(amount_usd !== undefined && { amount_usd }) };
    say(outcomeOf(await act(path, order)));
  };
  return (
    <Ask
      opened
      close={close}
      title={words.title}
      action={words.action}
      run={run}
      disabled={!isReady}
      calm={calm}
    >
      <p className="small">{words.about}</p>
      {children}
      {amount !== undefined && (
        <Field label={ot.amount} value={usd} change={setUsd} isFirst inputMode="decimal" />
      )}
      <Field
        label={ot.reason}
        about={ot.reasonAbout}
        value={reason}
        change={setReason}
        isFirst={amount === undefined}
      />
      {wanted !== undefined && (
        <Field
          label={needsAgain ? ot.amountAgain : ot.typeToConfirm(wanted)}
          value={typed}
          change={setTyped}
        />
      )}
    </Ask>
  );
}

/** What came of a change, in words. */
function outcomeOf({ done, applied }: ActionReply): string {
  if (done.outcome === "unchanged") return ot.unchanged;
  return applied === false ? ot.doneSoon : ot.done;
}

/** As the server takes it; what is no amount is sent as it is, and refused by name. */
function plainUsd(text: string): string {
  const isNegative = text.trim().startsWith("-");
  const plain = typedUsd(isNegative ? text.trim().slice(1) : text);
  return plain === null ? text.trim() : `${isNegative ? "-" : ""}${plain}`;
}

interface FieldProps {
  readonly label: string;
  readonly about?: string;
  readonly value: string;
  readonly change: (value: string) => void;
  readonly isFirst?: boolean;
  readonly inputMode?: "decimal";
}

function Field({ label, about, value, change, isFirst = false, inputMode }: FieldProps) {
  return (
    <TextInput
      data-autofocus={isFirst || undefined}
      label={label}
      {...(about !== undefined && { description: about })}
      {...(inputMode !== undefined && { inputMode })}
      autoComplete="off"
      value={value}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}

interface ActButtonProps extends Omit<ActProps, "close"> {
  readonly small?: boolean;
  /** Said after the name of the button to readers of the screen. */
  readonly of?: string;
}

/** A button that asks its question. */
export function ActButton({ small = false, of, ...props }: ActButtonProps) {
  const [asking, setAsking] = useState(false);
  const words = ot.acts[props.name];
  return (
    <>
      <Button
        size={small ? "compact-xs" : "xs"}
        variant="default"
        onClick={() => setAsking(true)}
        {...(of !== undefined && { "aria-label": `${words.open}: ${of}` })}
      >
        {words.open}
      </Button>
      {asking && <ActDialog {...props} close={() => setAsking(false)} />}
    </>
  );
}

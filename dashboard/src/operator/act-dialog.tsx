// The question before every change of an operator: the change, its reason, and, where it cannot be
// undone, the account's id or the amount typed again.

import { Button } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { ActionReply } from "../../../src/operator/act.ts";
import { typedUsd } from "../money.ts";
import { Ask, say } from "../parts/ask.tsx";
import { TextField, useConfirmation, useTyped } from "../parts/text-field.tsx";
import { ot } from "../texts/operator.ts";
import { t } from "../texts.ts";
import { act } from "./operator-queries.ts";

export type ActName = keyof typeof ot.acts;

interface ActProps {
  readonly name: ActName;
  /** The address below the operators' API. */
  readonly path: string;
  /** The fields of the body besides id, reason and amount. */
  readonly body?: object;
  readonly amount?: "needed" | "signed" | "optional";
  /** The text that must be typed. An amount must be typed twice without it. */
  readonly confirm?: string;
  /** True for a change that is easily taken back. */
  readonly calm?: boolean;
  readonly children?: ReactNode;
  readonly disabled?: boolean;
  /** Runs with the order before it is sent. */
  readonly before?: (order: Readonly<Record<string, unknown>>) => void;
  readonly close: () => void;
}

/** The id of the change is made once, so that a second click changes nothing more. */
export function ActDialog(props: ActProps) {
  const { name, path, body = {}, amount, confirm, calm = false, children, close } = props;
  const words = ot.acts[name];
  const [id] = useState(() => `op_${crypto.randomUUID()}`);
  const reason = useTyped("reason");
  const usd = useTyped("amount");
  const wanted = amount === undefined || usd.value === null ? confirm : usd.value;
  const again = useConfirmation(wanted ?? "");
  const isReady =
    reason.value !== null &&
    again.value !== null &&
    (amount === undefined || amount === "optional" || usd.value !== null) &&
    props.disabled !== true;
  const run = async () => {
    const order = {
      ...body,
      id,
      reason: reason.text,
      ...(amount !== undefined && usd.value !== null && { amount_usd: plainUsd(usd.value) }),
    };
    props.before?.(order);
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
        <TextField field={usd} isFirst label={ot.amount} inputMode="decimal" autoComplete="off" />
      )}
      <TextField
        field={reason}
        isFirst={amount === undefined}
        label={ot.reason}
        about={ot.reasonAbout}
        autoComplete="off"
      />
      {wanted !== undefined && (
        <TextField
          field={again}
          label={wanted === usd.value ? ot.amountAgain : t.fields.typeToConfirm(wanted)}
          autoComplete="off"
        />
      )}
    </Ask>
  );
}

/** The outcome of a change, in words. */
function outcomeOf({ done, applied }: ActionReply): string {
  if (done.outcome === "unchanged") return ot.unchanged;
  return applied === false ? ot.doneSoon : ot.done;
}

/** As the server takes it; a text that is no amount is sent as it is, and refused by name. */
function plainUsd(text: string): string {
  const isNegative = text.trim().startsWith("-");
  const plain = typedUsd(isNegative ? text.trim().slice(1) : text);
  return plain === null ? text.trim() : `${isNegative ? "-" : ""}${plain}`;
}

interface ActButtonProps extends Omit<ActProps, "close"> {
  readonly small?: boolean;
  /** Screen readers add this text to the name of the button. */
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
        {...(of !== undefined && { "aria-label": t.pair(words.open, of) })}
      >
        {words.open}
      </Button>
      {asking && <ActDialog {...props} close={() => setAsking(false)} />}
    </>
  );
}

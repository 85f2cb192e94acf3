// A question before something that cannot be taken back, and the common way to run a change.

import { Button, Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { type ReactNode, useState } from "react";
import { isAnswerLost } from "../api/client.ts";
import { t } from "../texts.ts";
import { Form } from "./form.tsx";

interface AskProps {
  readonly opened: boolean;
  readonly close: () => void;
  readonly title: string;
  readonly children: ReactNode;
  /** The function of the button, as a verb. */
  readonly action: string;
  readonly run: () => Promise<unknown>;
  readonly done?: string;
  readonly disabled?: boolean;
  readonly calm?: boolean;
}

/** Asks, runs the change, and shows its error in the dialog. */
export function Ask(props: AskProps) {
  const {
    opened,
    close,
    title,
    children,
    action,
    run,
    done,
    disabled = false,
    calm = false,
  } = props;
  const change = useChange(async () => {
    await run();
    if (done !== undefined) say(done);
    close();
  });
  return (
    <Modal opened={opened} onClose={whenIdle(change, close)} title={title}>
      <Form submit={change.start}>
        {children}
        <DialogFoot change={change} close={close} action={action} disabled={disabled} calm={calm} />
      </Form>
    </Modal>
  );
}

interface DialogFootProps {
  readonly change: Pick<Change, "busy" | "error">;
  readonly close: () => void;
  /** The function of the button, as a verb. */
  readonly action: string;
  readonly disabled?: boolean;
  /** False for an act that cannot be undone. */
  readonly calm?: boolean;
}

/** The end of a dialog: its error, and the buttons that leave the dialog or go on. */
export function DialogFoot({ change, close, action, disabled, calm = true }: DialogFootProps) {
  return (
    <>
      <Problem error={change.error} />
      <div className="row" data-end="">
        <Button variant="default" disabled={change.busy} onClick={close}>
          {t.actions.cancel}
        </Button>
        <Button
          type="submit"
          color={calm ? "accent" : "red"}
          loading={change.busy}
          disabled={disabled}
        >
          {action}
        </Button>
      </div>
    </>
  );
}

export interface Change<Order extends readonly unknown[] = []> {
  readonly busy: boolean;
  readonly error: Error | null;
  readonly start: (...order: Order) => Promise<void>;
  readonly clear: () => void;
}

/** Closes a dialog, unless its change is under way: closing the dialog would not stop it. */
export function whenIdle({ busy }: Pick<Change, "busy">, close: () => void): () => void {
  return () => {
    if (!busy) close();
  };
}

/** Runs a change once at a time, and keeps its error. */
export function useChange<Order extends readonly unknown[] = []>(
  run: (...order: Order) => Promise<unknown>,
): Change<Order> {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const start = async (...order: Order) => {
    if (busy) return;
    setBusy(true);
    setError(null);
    try {
      await run(...order);
    } catch (thrown) {
      setError(thrown instanceof Error ? thrown : new Error(String(thrown)));
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, start, clear: () => setError(null) };
}

/** Shows the error of a change, in the words of the server. */
export function Problem({ error }: { readonly error: Error | null }) {
  if (error === null) return null;
  return (
    <p className="small danger" role="alert">
      {error.message} {isAnswerLost(error) && t.states.mayBeDone}
    </p>
  );
}

/** A short message at the corner of the page. */
export function say(message: string): void {
  notifications.show({
    message,
    withBorder: true,
    autoClose: 4_000,
    closeButtonProps: { "aria-label": t.actions.close },
  });
}

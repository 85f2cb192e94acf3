// Shown in place of a page that fails. If a file is missing, the pages were updated while this page
// was open.

import { Button } from "@mantine/core";
import type { ErrorComponentProps } from "@tanstack/react-router";
import { RequestError } from "../api/client.ts";
import { Failure } from "../parts/loaded.tsx";
import { Notice } from "../parts/panel.tsx";
import { t } from "../texts.ts";

export function Broken({ error: thrown, reset }: ErrorComponentProps) {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const isUpdated = !(error instanceof RequestError) && /import|module/i.test(error.message);
  const reload = () => window.location.reload();
  return (
    <div className="entry">
      {isUpdated ? (
        <Notice action={<Button onClick={reload}>{t.states.reload}</Button>}>
          {t.states.newVersion}
        </Notice>
      ) : (
        <Failure error={error} retry={error instanceof RequestError ? reload : reset} />
      )}
    </div>
  );
}

// The app below the texts: theme, queries and routes. main.tsx loads it once the texts are there,
// because its modules read them as they are loaded.

import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { CatchBoundary, RouterProvider } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { IS_OPERATORS } from "./addresses.ts";
import { queryClient } from "./api/queries.ts";
import { takeVouchersOfLinks } from "./kept-voucher.ts";
import { router } from "./router.tsx";
import { Broken } from "./shell/broken.tsx";
import { schemeManager, theme, variables } from "./theme.ts";

/** Loaded only by operators, with texts that its modules read as they are loaded. */
const OperatorApp = lazy(async () => {
  await (await import("./texts/operator.ts")).loadOperatorTexts();
  return { default: (await import("./operator/operator-app.tsx")).OperatorApp };
});

const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
// The library that stops the page from scrolling behind a dialog reads the nonce of its style here.
Object.assign(window, { __webpack_nonce__: nonce });

/** Draws the app into the page. */
export function drawApp(root: HTMLElement): void {
  // Before the router, which would write the code into the address that sign-in leads back to.
  if (!IS_OPERATORS) takeVouchersOfLinks();
  createRoot(root).render(
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      colorSchemeManager={schemeManager}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queryClient}>
        {IS_OPERATORS ? (
          <CatchBoundary getResetKey={() => "operators"} errorComponent={Broken}>
            <Suspense>
              <OperatorApp />
            </Suspense>
          </CatchBoundary>
        ) : (
          <RouterProvider router={router} />
        )}
      </QueryClientProvider>
      <Notifications position="bottom-right" />
    </MantineProvider>,
  );
}

// Entry point of the dashboard: router, query client and theme.
import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { makeQueryClient } from "./queries/client.ts";
import { makeRouter } from "./routes.tsx";
import { SignInAgain } from "./shell/SignInAgain.tsx";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/ui.css";
import "./styles/shell.css";
import { followTheme } from "./theme.ts";
import { Toasts } from "./ui/Toast.tsx";

const queries = makeQueryClient();
const router = makeRouter(queries);
followTheme();

createRoot(document.getElementById("app")!).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
        <SignInAgain />
        <Toasts />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);

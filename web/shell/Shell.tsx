// Layout of every page for signed-in users: navigation, verification banner, help and palette.
import { Outlet, useLocation } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { closeNotLoaded, lazyPart } from "../ui/lazy-part.tsx";
import { arrival } from "./arrival.ts";
import { BaseUrlBanner } from "./BaseUrlBanner.tsx";
import { LeaveGuard } from "./LeaveGuard.tsx";
import { Logo } from "./Logo.tsx";
import { Navigation } from "./Navigation.tsx";
import { PaletteDialog } from "./PaletteDialog.tsx";
import { useProject } from "./project.ts";
import { useGo, useShortcut } from "./shortcuts.ts";
import { VerificationBanner } from "./VerificationBanner.tsx";

const Help = lazyPart(() => import("./Help.tsx"), closeNotLoaded);

type Open = "help" | "palette" | "navigation" | undefined;

export function Shell() {
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const project = useProject();
  const main = useNavigationFocus(close);
  useShortcut("mod+k", "Open command palette", () => setOpen("palette"));
  useShortcut("?", "Show shortcuts", () => setOpen("help"));
  useGo("g a", "Go to agents", project && `/projects/${project.id}/agents`);
  useGo("g k", "Go to keys", project && `/projects/${project.id}/keys`);
  useGo("g i", "Go to ingestion log", project && `/projects/${project.id}/ingestion`);
  useGo("g p", "Go to project settings", project && `/projects/${project.id}/settings`);
  useGo("g s", "Go to your settings", "/settings/profile");

  const navigation = (
    <Navigation project={project} onPalette={() => setOpen("palette")} onHelp={() => setOpen("help")} />
  );
  return (
    <div className="shell">
      <Button className="skip" onClick={() => main.current?.focus()}>
        Skip to content
      </Button>
      <header className="top">
        <Button look="plain" icon="menu" aria-label="Navigation" onClick={() => setOpen("navigation")} />
        <Logo />
        <Button look="plain" icon="search" aria-label="Command palette" onClick={() => setOpen("palette")} />
      </header>
      <div className="side">{navigation}</div>
      <div className="content">
        <BaseUrlBanner />
        <VerificationBanner />
        <main id="main" tabIndex={-1} ref={main}>
          <Outlet />
        </main>
      </div>
      <LeaveGuard />
      {open === "navigation" && (
        <Dialog title="Navigation" drawer onClose={close}>
          {navigation}
        </Dialog>
      )}
      {open === "help" && <Help onClose={close} />}
      {open === "palette" && (
        <PaletteDialog project={project} onClose={close} onHelp={() => setOpen("help")} />
      )}
    </div>
  );
}

/** Focuses the new content when the URL changes, as loading a page would. */
function useNavigationFocus(onMove: () => void) {
  const main = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  const shownPath = useRef(arrival.cameFromAuthPage ? undefined : pathname);
  useEffect(() => {
    if (shownPath.current === pathname) return;
    shownPath.current = pathname;
    onMove();
    main.current?.focus({ preventScroll: true });
  });
  return main;
}

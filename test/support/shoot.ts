// Screenshots of a page in both themes, for looking at it: written only if SHOTS names a folder.
import { mkdir } from "node:fs/promises";
import type { Page } from "playwright-core";

const folder = process.env["SHOTS"];

export async function shoot(page: Page, name: string): Promise<void> {
  if (!folder) return;
  await mkdir(folder, { recursive: true });
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: `${folder}/${name}-${colorScheme}.png`, fullPage: true });
  }
}

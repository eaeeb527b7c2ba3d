// Vite configuration: hashed files, nothing inline, the theme script first.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, type Plugin } from "vite";

const root = import.meta.dirname;

/** Ids of the modules that every page loads: main.tsx and all that it imports. */
const firstLoad = new Set<string>();

export default defineConfig({
  root,
  plugins: [themeFirst(), findFirstLoad()],
  build: {
    target: "es2023",
    manifest: true,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // By default modules are split by the set of pages that import them: a page took 61 requests, now 23.
        codeSplitting: {
          groups: [
            { name: "index", test: id => firstLoad.has(id) },
            { name: "shared", test: id => !firstLoad.has(id), minShareCount: 8, maxModuleSize: 40_000 },
          ],
        },
      },
      onLog(level, log, report) {
        // "use client" matters only to server rendering.
        if (log.code !== "MODULE_LEVEL_DIRECTIVE") report(level, log);
      },
    },
  },
});

/** Puts the blocking theme script first, as a hashed file: the content security policy allows no inline script. */
function themeFirst(): Plugin {
  const source = () => readFileSync(join(root, "theme-first.js"), "utf8");
  return {
    name: "theme-first",
    buildStart() {
      if (this.meta.watchMode) return;
      this.emitFile({ type: "asset", name: "theme-first.js", source: source() });
    },
    transformIndexHtml: {
      order: "post",
      handler(_html, { bundle }) {
        const name = Object.values(bundle ?? {}).find(({ fileName }) =>
          fileName.includes("theme-first"),
        )?.fileName;
        return [{ tag: "script", attrs: { src: `/${name ?? "theme-first.js"}` }, injectTo: "head-prepend" }];
      },
    },
  };
}

function findFirstLoad(): Plugin {
  return {
    name: "find-first-load",
    buildEnd() {
      const visit = (id: string) => {
        if (firstLoad.has(id)) return;
        firstLoad.add(id);
        this.getModuleInfo(id)?.importedIds.forEach(visit);
      };
      for (const id of this.getModuleIds()) if (this.getModuleInfo(id)?.isEntry) visit(id);
    },
  };
}

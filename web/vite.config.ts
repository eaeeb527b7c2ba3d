// Vite configuration: hashed files, nothing inline, the theme script first.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, type Plugin } from "vite";

const root = import.meta.dirname;

export default defineConfig({
  root,
  plugins: [themeFirst()],
  // For "npx vite web": the service answers the API.
  server: { proxy: { "/api": "http://localhost:4000", "/public": "http://localhost:4000" } },
  build: {
    target: "es2023",
    manifest: true,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
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

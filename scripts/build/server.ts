// Bundles the service and its commands with the packages they need into dist/server, which the npm package and the image run.

import { globSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type ESTree, type Plugin, parseSync, Visitor } from "vite";
import { nodeMajor } from "../launch/runtime.mjs";

const root = join(import.meta.dirname, "../..");
const sources = join(root, "src");

/** Parts of packages that nothing here uses and nobody installs. The platforms' packages of PostgreSQL are found by their name. */
const unused = [
  "pg-native", // libpq in place of the client in JavaScript
  "@napi-rs/nice", // a priority of threads, native
];

/** `licenses`: the file in the folder that will list the licenses of the bundled packages. */
export async function buildServer(outDir: string, licenses: string): Promise<void> {
  await build({
    root,
    configFile: false,
    logLevel: "warn",
    publicDir: false,
    ssr: { noExternal: true },
    // Where packages of the older module system look for their own files.
    define: { __dirname: "import.meta.dirname" },
    plugins: [filesByUrl()],
    build: {
      ssr: true,
      outDir,
      emptyOutDir: true,
      target: `node${nodeMajor}`,
      // So that the lines of stack traces can be read, without source maps.
      minify: false,
      emitAssets: true,
      license: { fileName: licenses },
      rolldownOptions: {
        input: ["main.ts", "bootstrap.ts", "cli.ts"].map(name => join(sources, name)),
        external: unused,
        output: { entryFileNames: "[name].js", chunkFileNames: "[name].js" },
      },
    },
  });
}

/**
 * Follows `new URL("./thread.ts", import.meta.url)`, by which sources name scripts of threads and processes, and SQL files: the
 * scripts become entries of the bundle, the files are copied, and all of them lie in one folder with the code that names them.
 */
function filesByUrl(): Plugin {
  return {
    name: "files-by-url",
    buildStart() {
      // Piscina's threads run this file, which it expects beside the file that starts them.
      const id = join(dirname(createRequire(import.meta.url).resolve("piscina")), "worker.js");
      this.emitFile({ type: "chunk", id, fileName: "worker.js" });
    },
    transform: {
      filter: { id: /\/src\/.*\.ts$/, code: "import.meta.url" },
      handler(code, id) {
        const edits: { at: ESTree.Span; text: string }[] = [];
        const visitor = new Visitor({
          NewExpression: ({ callee, arguments: [path, base] }) => {
            if (callee.type !== "Identifier" || callee.name !== "URL") return;
            if (path?.type !== "Literal" || !base || textOf(base) !== "import.meta.url") return;
            const file = fileURLToPath(new URL(String(path.value), pathToFileURL(id)));
            const name = relative(sources, file).replaceAll(sep, "-");
            if (file.endsWith(".ts")) {
              const fileName = `${basename(name, ".ts")}.js`;
              this.emitFile({ type: "chunk", id: file, fileName });
              edits.push({ at: path, text: JSON.stringify(`./${fileName}`) });
              return;
            }
            const isFolder = statSync(file).isDirectory();
            for (const one of isFolder ? globSync("*.sql", { cwd: file }) : [""]) {
              this.emitFile({
                type: "asset",
                fileName: join(name, one),
                source: readFileSync(join(file, one)),
              });
            }
            edits.push({ at: path, text: JSON.stringify(isFolder ? `./${name}/` : `./${name}`) });
          },
          // A file that makes its own `require`, to load a package late, gets the bundler's.
          VariableDeclaration: node => {
            if (textOf(node).startsWith("const require = createRequire(")) edits.push({ at: node, text: "" });
          },
        });
        const textOf = ({ start, end }: ESTree.Span) => code.slice(start, end);
        visitor.visit(parseSync(id, code, { lang: "js" }).program);
        return edits
          .sort((one, other) => other.at.start - one.at.start)
          .reduce((text, { at, text: edit }) => text.slice(0, at.start) + edit + text.slice(at.end), code);
      },
    },
  };
}

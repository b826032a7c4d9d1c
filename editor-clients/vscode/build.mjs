// Bundles the extension and copies the files that the package needs from the rest of the tree: the grammars, the page
// about warnings and the licence.
import { copyFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const tree = join(here, "../..");

mkdirSync(join(here, "syntaxes"), { recursive: true });
for (const grammar of ["hlo.tmLanguage.json", "mlir.tmLanguage.json", "ptx.tmLanguage.json"]) {
  copyFileSync(join(tree, "grammar/textmate", grammar), join(here, "syntaxes", grammar));
}
copyFileSync(join(tree, "LICENSE"), join(here, "LICENSE"));
mkdirSync(join(here, "docs"), { recursive: true });
copyFileSync(join(tree, "server/docs/warnings.md"), join(here, "docs/warnings.md"));

const minify = process.argv.includes("--minify");
// The script of a page runs in a browser.
await build({
  absWorkingDir: here,
  entryPoints: ["src/memory-picture.ts"],
  outfile: "dist/memory-picture.js",
  bundle: true,
  platform: "browser",
  format: "iife",
  target: "es2022",
  minify,
});
await build({
  absWorkingDir: here,
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
  sourcemap: minify ? false : "linked",
  minify,
});

// Bundles the extension and copies the files that the package needs from the rest of the tree: the grammars, the page
// about warnings, the changelog and the licence.
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const tree = join(here, "../..");

mkdirSync(join(here, "syntaxes"), { recursive: true });
for (const name of ["hlo", "mlir", "ptx", "markdown-injection", "cpp-injection"]) {
  const grammar = `${name}.tmLanguage.json`;
  copyFileSync(join(tree, "grammar/textmate", grammar), join(here, "syntaxes", grammar));
}
copyFileSync(join(tree, "LICENSE"), join(here, "LICENSE"));
mkdirSync(join(here, "docs"), { recursive: true });
copyFileSync(join(tree, "server/docs/warnings.md"), join(here, "docs/warnings.md"));
// Its links are from the root of the tree.
const changelog = readFileSync(join(tree, "CHANGELOG.md"), "utf8");
writeFileSync(join(here, "CHANGELOG.md"), changelog.replaceAll(/\]\((?![a-z]+:|#)/g, "](../../"));

// Every file that the manifest and the README name.
const manifest = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
const named = [manifest.icon, ...manifest.contributes.walkthroughs.flatMap(({ steps }) => steps.map(({ media }) => media.image))];
named.push(...manifest.contributes.languages.flatMap(({ icon }) => [icon.light, icon.dark]));
named.push(...[...readFileSync(join(here, "README.md"), "utf8").matchAll(/!\[[^\]]*\]\(([^)]+)\)/g)].map((image) => image[1]));
const missing = named.filter((file) => !existsSync(join(here, file)));
if (missing.length > 0) {
  throw new Error(`files that package.json or README.md name are missing: ${missing.join(", ")}`);
}

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
  entryPoints: ["src/web.ts"],
  outfile: "dist/web.js",
  bundle: true,
  platform: "browser",
  format: "cjs",
  target: "es2022",
  external: ["vscode"],
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

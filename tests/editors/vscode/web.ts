// The extension in VS Code's web extension host, where it has no server: colours, and a message why there is no more.
//
//   node web.ts --code-server DIR --chromium FILE --out DIR
//
// The editor prefers the desktop's entry of an extension where it has a machine, so a package without that entry is tested.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { eventually, WASTEFUL } from "./report.ts";
import { Screen } from "./screen.ts";
import { Workbench } from "./workbench.ts";

const text = { type: "string" } as const;
const { values } = parseArgs({ options: { "code-server": text, chromium: text, out: text } });
const { "code-server": codeServer, chromium } = values;
assert.ok(codeServer && chromium && values.out, "a path is missing");
const out = resolve(values.out);
const extension = join(import.meta.dirname, "../../../editor-clients/vscode");

function packaged(folder: string): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const part of ["dist", "syntaxes", "images", "README.md", "language-configuration.json", "mlir-configuration.json", "ptx-configuration.json"]) {
    cpSync(join(extension, part), join(folder, part), { recursive: true });
  }
  const { main, scripts, devDependencies, dependencies, ...manifest } = JSON.parse(readFileSync(join(extension, "package.json"), "utf8"));
  assert.ok(main && manifest.browser, "an entry is missing");
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  const vsix = join(folder, "web.vsix");
  const vsce = ["package", "--no-dependencies", "--skip-license", "--allow-unused-files-pattern", "--baseContentUrl", "https://example.org", "--out", vsix];
  const done = spawnSync(join(extension, "node_modules/.bin/vsce"), vsce, { cwd: folder, encoding: "utf8" });
  assert.equal(done.status, 0, `${done.stdout}${done.stderr}`);
  return vsix;
}

const vsix = packaged(join(out, "web"));
const workbench = new Workbench({ codeServer, chromium });
let screen: Screen | undefined;
try {
  cpSync(join(import.meta.dirname, "../fixtures", WASTEFUL), join(workbench.folder, WASTEFUL));
  workbench.install(vsix);
  screen = new Screen(await workbench.open(WASTEFUL));
  const said = await screen.notification("has colours, brackets and folds here", "need its server");
  console.log(said);
  await screen.press("Escape");
  const line = "%add_fusion =";
  const shown = screen;
  const colours = await eventually("colours", async () => ((await shown.colours(line)) >= 4 ? shown.colours(line) : undefined));
  console.log(`${colours} colours in the line of ${line}`);
  await screen.command("Notifications: Clear All Notifications");
  await screen.command("hlo-analyzer: Heaviest Kernels");
  await screen.notification("need its server");
  await screen.screenshot(join(out, "web.png"));
  console.log("  ok     a command says so, too");
} catch (error) {
  await screen?.screenshot(join(out, "failed web.png"));
  throw error;
} finally {
  await workbench.close();
}

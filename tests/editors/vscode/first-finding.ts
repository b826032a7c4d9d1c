// From a VS Code that was never started to the first warning:
//
//   node first-finding.ts --vsix FILE --code-server DIR --chromium FILE --screenshot FILE

import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { eventually, WASTEFUL } from "./report.ts";
import { Screen } from "./screen.ts";
import { Workbench } from "./workbench.ts";

const text = { type: "string" } as const;
const { values } = parseArgs({ options: { vsix: text, "code-server": text, chromium: text, screenshot: text } });
const { vsix, "code-server": codeServer, chromium, screenshot } = values;
assert.ok(vsix && codeServer && chromium && screenshot, "a path is missing");

const workbench = new Workbench({ codeServer, chromium });
const started = Date.now();
const seconds = (): string => ((Date.now() - started) / 1000).toFixed(2);
try {
  cpSync(join(import.meta.dirname, "../fixtures", WASTEFUL), join(workbench.folder, WASTEFUL));
  workbench.install(vsix);
  console.log(`installed after ${seconds()} s`);
  const page = await workbench.open(WASTEFUL);
  console.log(`open after ${seconds()} s`);
  const screen = new Screen(page);
  await eventually("a warning", async () => ((await screen.count(".squiggly-warning")) > 0 ? true : undefined), 60_000);
  console.log(`first finding after ${seconds()} s`);
  await screen.screenshot(screenshot);
} finally {
  await workbench.close();
}

// Opens a dump in a real VS Code with our .vsix and looks at it. Started by `cargo xtask test`:
//
//   node run.ts --vsix FILE --code-server DIR --chromium FILE --out DIR [--real-dump FILE] [--only TEXT]
//
// With `--only` only what is looked at on the screen runs, and of that only checks with the text in their names.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { CRASH_POLICY } from "./crash-policy.ts";
import { BESIDE, type CheckResult, DEADLY, DEADLY_SERVER, DEADLY_TEXT, DUMP, DUMP_FOLDER, FIXTURE, GO, HUGE, LARGE } from "./report.ts";
import { eventually, MLIR_FIXTURE, REAL_DUMP, REPORT, type Report, UNFUSED, UNKNOWN_NAME, WASTEFUL } from "./report.ts";
import { Screen } from "./screen.ts";
import { album, LARGE_FILES, THEMES, TOUR } from "./tour.ts";
import { Workbench } from "./workbench.ts";

const { values: options } = parseArgs({
  options: {
    vsix: { type: "string" },
    "code-server": { type: "string" },
    chromium: { type: "string" },
    out: { type: "string" },
    "real-dump": { type: "string" },
    only: { type: "string" },
  },
});
const here = import.meta.dirname;
const out = required(options.out, "--out");
const started = Date.now();

function required(value: string | undefined, name: string): string {
  assert.ok(value, `${name} is missing`);
  return value;
}

function say(text: string): void {
  console.log(`${((Date.now() - started) / 1000).toFixed(1).padStart(6)} s  ${text}`);
}

/** Packages the checks that run inside the editor, with the tools of the extension itself. */
function packageChecks(): string {
  const tools = join(here, "../../../editor-clients/vscode/node_modules/.bin");
  const folder = join(out, "in-editor");
  mkdirSync(join(folder, "dist"), { recursive: true });
  copyFileSync(join(here, "in-editor/package.json"), join(folder, "package.json"));
  const vsix = join(out, "checks.vsix");
  const bundle = ["--bundle", "--platform=node", "--format=cjs", "--external:vscode", "--log-level=warning"];
  const commands = [
    ["esbuild", join(here, "in-editor/checks.ts"), ...bundle, `--outfile=${join(folder, "dist/checks.js")}`],
    ["vsce", "package", "--no-dependencies", "--allow-missing-repository", "--skip-license", "--out", vsix],
  ];
  for (const [program = "", ...args] of commands) {
    const done = spawnSync(join(tools, program), args, { cwd: folder, encoding: "utf8" });
    assert.equal(done.status, 0, `${program}: ${done.error?.message ?? ""}${done.stdout}${done.stderr}`);
  }
  return vsix;
}

function fillFolder(folder: string): void {
  const fixture = join(here, "../fixtures", FIXTURE);
  for (const name of [FIXTURE, DUMP, UNKNOWN_NAME]) {
    cpSync(fixture, join(folder, name));
  }
  const wasteful = readFileSync(join(here, "../fixtures", WASTEFUL), "utf8");
  writeFileSync(join(folder, WASTEFUL), wasteful);
  writeFileSync(join(folder, DEADLY), `// ${DEADLY_TEXT}\n${wasteful}`);
  for (const [name, megabytes] of [[LARGE, 24], [HUGE, 52]] as const) {
    writeFileSync(join(folder, name), `${wasteful}${`// ${"a comment ".repeat(20)}\n`.repeat(megabytes * 5_200)}`);
  }
  // What node is called differs from machine to machine.
  const program = `#!/bin/sh\nexec "${process.execPath}" "${join(here, "deadly-server.mjs")}" "$(dirname "$0")/hlo-analyzer" "${DEADLY_TEXT}" "$@"\n`;
  writeFileSync(join(folder, DEADLY_SERVER), program, { mode: 0o755 });
  const dump = join(here, "../../../server/test-files/dump");
  cpSync(dump, join(folder, DUMP_FOLDER), { recursive: true });
  cpSync(join(dump, "layer.py"), join(folder, "layer.py"));
  cpSync(join(here, "../fixtures", MLIR_FIXTURE), join(folder, MLIR_FIXTURE));
  cpSync(join(here, "../fixtures", UNFUSED), join(folder, UNFUSED));
  writeFileSync(join(folder, BESIDE), "BufferAssignment:\nallocation 0: size 800, parameter 0\n");
  if (options["real-dump"] !== undefined) {
    cpSync(options["real-dump"], join(folder, REAL_DUMP));
  }
}

/** What a person sees, in order. One that fails does not keep the next from being looked at. */
const ON_SCREEN: Record<string, (screen: Screen) => Promise<void>> = {
  "the dump is open, without a squiggle": async (screen) => {
    await screen.waitForLine("the fixture", 60_000, "%transpose.3");
    assert.equal(await screen.squiggles(), 0);
  },
  "an inlay hint on the reduction": async (screen) => {
    await screen.waitForLine("the hint", 60_000, "%reduce.7 =", "d0 ≤ 9, s0 ≤ 19");
  },
  "the mouse on the transpose shows its map": async (screen) => {
    say(await screen.hover("ROOT %transpose.3 =", "%transpose.3", "(d0, d1) -> (d1, d0)"));
    await screen.screenshot(join(out, "hover.png"));
    await screen.press("Escape");
  },
  "a click on the lens shows the kernel, and the cursor marks its lines": async (screen) => {
    await screen.clickLens("Show kernel", "%input_transpose_fusion =", "func.func @input_transpose_fusion(");
    await screen.click("%add.4 =", "%add.4");
    await screen.waitForMark("arith.addf");
    await screen.screenshot(join(out, "kernel.png"));
  },
  "a typed error has a squiggle": async (screen) => {
    await screen.click("%add.4 =", "%add.4");
    await screen.press("End");
    await screen.press("Enter");
    await screen.type("%oops = f32[20,10]{1,0} negate(%nobody)");
    await eventually("the squiggle", async () => ((await screen.squiggles()) > 0 ? true : undefined));
    await screen.screenshot(join(out, "squiggle.png"));
  },
  "after undo it has none": async (screen) => {
    const typed = async (): Promise<boolean> => (await screen.lines()).some((line) => line.includes("%oops"));
    for (let undone = 0; undone < 60 && (await typed()); undone++) {
      await screen.press("Control+z");
    }
    assert.ok(!(await typed()), "the error is still there after 60 times undo");
    await eventually("no squiggle", async () => ((await screen.squiggles()) === 0 ? true : undefined));
  },
};

/** After the checks inside the editor, which took the server away. */
const ON_SCREEN_WITHOUT_SERVER: typeof ON_SCREEN = {
  "the file that killed the server was named": async (screen) => {
    await screen.command("Notifications: Show Notifications");
    const messages = await eventually("messages", async () => {
      const all = await screen.texts(".notifications-center .notification-list-item-message");
      return all.length > 0 ? all : undefined;
    });
    assert.ok(messages.some((message) => message.includes(`died 3 times while it read ${DEADLY}`)), messages.join("\n"));
    await screen.screenshot(join(out, "died.png"));
    await screen.press("Escape");
  },
  "without a server a message says what to do": async (screen) => {
    await screen.command("hlo-analyzer: Restart Server");
    say(await screen.notification("was not found", "cargo xtask install", "Open Settings"));
  },
  "a command says that the server is not running": async (screen) => {
    await screen.command("Notifications: Clear All Notifications");
    await screen.openFile(FIXTURE);
    await screen.command("hlo-analyzer: Show Kernel");
    say(await screen.notification("The hlo-analyzer server is not running", "Restart", "Show Log"));
    await screen.screenshot(join(out, "not-running.png"));
  },
};

async function lookOnce(screen: Screen, name: string, look: (screen: Screen) => Promise<void>): Promise<CheckResult> {
  const start = Date.now();
  const failure = await look(screen).then(() => undefined, String);
  if (failure !== undefined) {
    await screen.screenshot(join(out, `failed ${name.replaceAll(/[:+.,]/g, "")}.png`));
    // What is open from it must not stand in the way of the next.
    await screen.press("Escape");
  }
  return { name, milliseconds: Date.now() - start, failure };
}

async function lookAtTheScreen(screen: Screen, looks: typeof ON_SCREEN): Promise<number> {
  say("on the screen:");
  const checks: CheckResult[] = [];
  const { only = "" } = options;
  for (const [name, look] of Object.entries(looks).filter(([name]) => name.includes(only))) {
    let check = await lookOnce(screen, name, look);
    if (check.failure !== undefined) {
      // A click that the workbench lost while it was busy is no fault of ours: what fails twice is.
      print([check]);
      screen.retries += 1;
      check = await lookOnce(screen, `${name}, once more`, look);
    }
    checks.push(check);
    print([check]);
  }
  return failures(checks);
}

function runChecks(all: Record<string, () => void>): number {
  const checks = Object.entries(all).map(([name, check]): CheckResult => {
    try {
      check();
      return { name, milliseconds: 0 };
    } catch (error) {
      return { name, milliseconds: 0, failure: String(error) };
    }
  });
  print(checks);
  return failures(checks);
}

function print(checks: CheckResult[]): void {
  for (const { name, milliseconds, failure } of checks) {
    console.log(`  ${failure === undefined ? "ok    " : "FAILED"} ${name} (${milliseconds} ms)`);
    if (failure !== undefined) {
      console.log(failure.replace(/^/gm, "         "));
    }
  }
}

function failures(checks: CheckResult[]): number {
  return checks.filter((check) => check.failure !== undefined).length;
}

async function lookInside(folder: string): Promise<number> {
  writeFileSync(join(folder, GO), "");
  const file = join(folder, REPORT);
  await eventually("the report of the checks in the editor", () => existsSync(file) || undefined, 600_000);
  const report = JSON.parse(readFileSync(file, "utf8")) as Report;
  say(`${report.editor}, from inside:`);
  print(report.checks);
  assert.ok(report.checks.length >= 10, "the checks ran");
  return failures(report.checks);
}

/** Everything once, in a fresh VS Code. Returns how many checks failed. */
async function main(): Promise<number> {
  mkdirSync(out, { recursive: true });
  const checks = packageChecks();
  const workbench = new Workbench({
    codeServer: required(options["code-server"], "--code-server"),
    chromium: required(options.chromium, "--chromium"),
  });
  let screen: Screen | undefined;
  try {
    fillFolder(workbench.folder);
    workbench.install(required(options.vsix, "--vsix"));
    workbench.install(checks);
    say("extensions installed");
    screen = new Screen(await workbench.open(FIXTURE));
    say("workbench open");
    let failed = runChecks(CRASH_POLICY);
    failed += await lookAtTheScreen(screen, ON_SCREEN);
    for (const name of THEMES) {
      if (name !== "dark") {
        await screen.command("Preferences: Toggle between Light/Dark Themes");
      }
      await screen.waitForTheme(name);
      const picture = album(join(out, "screenshots", name), screen);
      const steps = name === "dark" ? { ...TOUR, ...LARGE_FILES } : TOUR;
      const looks = Object.entries(steps).map(([what, step]) => [`${name}: ${what}`, (on: Screen) => step(on, picture, workbench.folder)]);
      failed += await lookAtTheScreen(screen, Object.fromEntries(looks));
    }
    if (options.only === undefined) {
      failed += await lookInside(workbench.folder);
      failed += await lookAtTheScreen(screen, ON_SCREEN_WITHOUT_SERVER);
    }
    say(`${failed} checks failed; ${screen.retries} hovers and clicks repeated`);
    if (failed > 0) {
      console.log(`what the editor looked like is in ${out}; VS Code's server said:\n${workbench.log()}`);
    }
    return failed;
  } catch (error) {
    await screen?.screenshot(join(out, "failed.png")).catch(() => undefined);
    console.error(workbench.log());
    throw error;
  } finally {
    await workbench.close();
  }
}

// A browser that hangs must not hold up the whole test run.
setTimeout(() => {
  console.error("gave up after 20 minutes");
  process.exit(1);
}, 1_200_000).unref();

process.exit((await main()) === 0 ? 0 : 1);

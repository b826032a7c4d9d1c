// What a picky user looks at, once per theme. Each step leaves a picture in a folder of the theme, numbered in order.

import assert from "node:assert/strict";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DUMP_FOLDER, FIXTURE, HUGE, LARGE, MLIR_FIXTURE, UNFUSED, WASTEFUL, eventually } from "./report.ts";
import type { Screen } from "./screen.ts";

/** The first is that of the settings. */
export const THEMES = ["dark", "light"] as const;

/** `folder` is the one that the window shows. */
type Step = (screen: Screen, picture: (name: string) => Promise<void>, folder: string) => Promise<void>;

const READ = "%add_fusion = ";
const OTHER = "%scale_fusion = ";
/** Rows of the view of compiles. */
const COMPILES = ".monaco-list[aria-label='Compiles'] .monaco-list-row";
const LAST_STAGE = "module_0001.jit_step.sm_9.0a_gpu_after_optimizations.txt";
const WALKTHROUGH = "See what XLA made of your program";
const ACTIONS = ["Show kernel", "Show access pattern", "Evaluate"];

export const TOUR: Record<string, Step> = {
  "the actions are in the editor's title": async (screen, picture) => {
    await screen.openFile(WASTEFUL);
    await eventually("a lens", async () => ((await screen.count(".codelens-decoration a", "Show kernel")) > 0 ? true : undefined));
    await eventually("a warning", async () => ((await screen.count(".squiggly-warning")) > 0 ? true : undefined));
    const labels = (await screen.labels(".editor-group-container.active .editor-actions .action-label")).join(" | ");
    for (const title of ["Show Kernel", "Show Access Pattern", "Evaluate"]) {
      assert.ok(labels.includes(title), labels);
    }
    await picture("editor");
  },
  "a warning says what to do, and links to its page": async (screen, picture) => {
    const text = await screen.hover(READ, "%y", "sectors");
    assert.ok(text.includes("hlo-analyzer") && text.includes("uncoalesced"), text);
    await picture("warning");
    await screen.clickOn(".monaco-hover:not(.hidden) a.code-link");
    await screen.webview("A kernel moves many more sectors");
    await picture("documentation");
    await screen.command("View: Close All Editors");
  },
  "Ctrl+. shows the kernel, the accesses and the value, and disables the warning": async (screen, picture) => {
    await screen.openFile(WASTEFUL);
    await screen.click(READ, "%y");
    await screen.actions(...ACTIONS, "Disable the warning uncoalesced");
    await picture("actions");
    await screen.press("Escape");
  },
  "the cause is marked inside the fused computation, and Ctrl+. draws it": async (screen, picture) => {
    await eventually("a mark", async () => ((await screen.count(".squiggly-info")) > 0 ? true : undefined));
    await screen.click("ROOT %add.1 =", "%add.1");
    await screen.actions("Show access pattern", "Disable the warning uncoalesced");
    await picture("cause");
    await screen.press("Escape");
  },
  "Ctrl+. does so in MLIR, too, and no arrow is red": async (screen, picture) => {
    await screen.openFile(MLIR_FIXTURE);
    await screen.click("stablehlo.transpose", "stablehlo.transpose");
    await screen.actions(...ACTIONS);
    await picture("mlir");
    await screen.press("Escape");
    assert.equal(await screen.count(".unexpected-closing-bracket"), 0);
  },
  "the kernels of two fusions share one group of tabs": async (screen, picture) => {
    await screen.openFile(WASTEFUL);
    await screen.clickLens("Show kernel", READ, "func.func @add_fusion(");
    await screen.clickLens("Show kernel", OTHER, "func.func @scale_fusion(");
    const tabs = await eventually("the tabs of one kernel", async () => {
      const all = await screen.labels(".tabs-container .tab");
      const kernels = all.filter((label) => label.includes("_fusion."));
      return kernels.length > 0 && kernels.every((label) => label.includes("scale_fusion")) ? kernels : undefined;
    });
    assert.ok(tabs.length >= 3, tabs.join(" | "));
    await picture("kernel");
    await screen.command("View: Close All Editors");
  },
  "the picture of accesses has the theme's colours and a number per lane": async (screen, picture) => {
    await screen.openFile(WASTEFUL);
    await screen.click(READ, "%y");
    await screen.command("hlo-analyzer: Show Access Pattern");
    const text = await screen.webview("sectors");
    assert.ok(!text.includes("`"), text);
    assert.ok(/\b31\b/.test(text), text);
    await picture("access-pattern");
    await screen.command("View: Close All Editors");
  },
  "the heaviest kernels stay in a view and can be sorted": async (screen, picture) => {
    await screen.openFile(WASTEFUL);
    await screen.command("hlo-analyzer: Heaviest Kernels");
    const rows = async (): Promise<string[]> => {
      const all = await screen.texts(".monaco-list[aria-label='Heaviest Kernels'] .monaco-list-row");
      return all.filter((row) => row.includes("_fusion"));
    };
    const first = (name: string) => async (): Promise<true | undefined> => (await rows())[0]?.includes(name) || undefined;
    await eventually("the heaviest first", first("add_fusion"));
    assert.ok(/µs .*%.*MB/.test((await rows())[0] ?? ""), (await rows()).join("\n"));
    await picture("heaviest-kernels");
    await screen.command("hlo-analyzer: Sort by Name");
    await eventually("the order of names", first("add_fusion"));
    await screen.command("hlo-analyzer: Sort by Bytes");
    await screen.openFile(FIXTURE);
    await eventually("the list of the file in front", first("input_"));
    await screen.command("hlo-analyzer: Sort by Time");
    await screen.command("View: Hide Panel");
  },
  "a module before fusion says what becomes of it, beside the text and as a diff": async (screen, picture) => {
    await screen.command("View: Close All Editors");
    await screen.openFile(UNFUSED);
    await screen.waitForLine("the kernel of an instruction", 30_000, "%scaled", "→ kernel");
    await eventually("the totals", async () => ((await screen.labels(".codelens-decoration a")).length > 0 ? true : undefined));
    await screen.click("%scaled =", "%scaled");
    await screen.command("hlo-analyzer: Show as Fused");
    await screen.waitForLine("the fused module", 30_000, "after fusion-pipeline");
    // The lines that the instruction became are marked.
    await screen.waitForLine("a fusion", 30_000, "kind=k", "calls=");
    await picture("preview");
    await screen.command("View: Close All Editors");
    await screen.openFile(UNFUSED);
    await screen.click("%again =", "%again");
    await screen.actions("cse: %again merged into %scaled");
    await picture("rewrites");
    await screen.press("Escape");
    await screen.command("View: Close All Editors");
  },
  "compiles: three passes, what the last one changed, the source line and back": async (screen, picture) => {
    await screen.command("View: Close All Editors");
    await screen.command("XLA Compiles: Focus on Compiles View");
    const row = (...parts: string[]): Promise<string> => compileRow(screen, ...parts);
    const isClosed = async (text: string): Promise<boolean> => (await screen.count(`${COMPILES}[aria-expanded='false']`, text)) > 0;
    for (const [closed, inside] of [
      [`${DUMP_FOLDER} · module 1 · 8 stages`, "fusion"],
      ["layout_assignment", "layout-assignment"],
      ["hlo_normalization", "triton-gemm-rewriter"],
      ["fusion", "priority-fusion"],
    ] as const) {
      await row(closed);
      if (await isClosed(closed)) {
        await screen.clickOn(`${COMPILES}[aria-expanded='false']`, closed);
      }
      await row(inside);
    }
    await row("priority-fusion", "+");
    await picture("compiles");
    const tab = (part: string): Promise<true> =>
      eventually(`the tab of ${part}`, async () => {
        const tabs = await screen.labels(".editor-group-container.active .tab.active");
        return tabs.some((label) => label.includes(part)) || undefined;
      });
    for (const [pass, file] of [
      ["layout-assignment", "0001.layout_assignment"],
      ["triton-gemm-rewriter", "0003.hlo_normalization"],
      ["priority-fusion", "0005.fusion"],
    ] as const) {
      await screen.clickOn(COMPILES, pass);
      await tab(file);
    }
    await screen.find("%fusion.3 = ");
    await screen.command("hlo-analyzer: Go to Previous Pass");
    await tab("0004.fusion");
    await picture("previous-pass");
    await screen.command("hlo-analyzer: Go to Next Pass");
    await tab("0005.fusion");
    await screen.command("hlo-analyzer: Compare with Previous Pass");
    await eventually("a diff", async () => (await screen.count(".monaco-diff-editor .line-insert")) > 0 || undefined);
    await picture("compare");
    await screen.clickOn(COMPILES, "priority-fusion");
    await tab("0005.fusion");
    await screen.find("%fusion.3 = ");
    await screen.command("hlo-analyzer: Passes That Changed This Instruction");
    await eventually("the passes", async () => (await screen.pickerRows()).some((text) => text.includes("priority-fusion")) || undefined);
    await picture("passes-of-an-instruction");
    await screen.press("Escape");
    await screen.find("fusion(%gemm_fusion_dot");
    await screen.command("Go to Definition");
    await screen.waitForLine("the line of Python", 30_000, "y = jnp.tanh(scores(x, w) + bias)");
    await picture("source");
    await screen.command("Go Back");
    await screen.waitForLine("the fusion again", 30_000, "%fusion.3 =");
    await screen.command("View: Show Explorer");
    await screen.command("View: Close All Editors");
  },
  "compiles: a Triton kernel is a program on tiles, beside XLA's own code": async (screen, picture) => {
    await showCompile(screen);
    await screen.clickOn(COMPILES, "after optimizations");
    await screen.find("%gemm_fusion_dot = ");
    await screen.command("hlo-analyzer: Show Kernel");
    const tabs = await eventually("the tabs of the kernel", async () => {
      const all = await screen.labels(".tabs-container .tab");
      const kernels = all.filter((label) => label.includes("gemm_fusion_dot."));
      return kernels.length >= 5 ? kernels : undefined;
    });
    for (const ending of ["xtile.mlir", "ttir.mlir", "tilings.txt", "kernel.txt", "xla.ptx"]) {
      assert.ok(tabs.some((tab) => tab.includes(ending)), tabs.join(" | "));
    }
    await screen.waitForLine("the program on tiles", 30_000, "xtile.entry_func @gemm_fusion_dot(");
    await picture("tiles");
    await screen.command("View: Focus Next Editor Group");
    await screen.command("View: Open Last Editor in Group");
    await screen.waitForLine("XLA's own code", 30_000, "XLA's kernel");
    await picture("xla-kernel");
    await screen.command("View: Show Explorer");
    await screen.command("View: Close All Editors");
  },
  "compiles: device, flags with their defaults, and thunks that lead to instructions": async (screen, picture) => {
    await showCompile(screen);
    for (const part of ["Flags", "Thunks"]) {
      await screen.clickOn(`${COMPILES}[aria-expanded='false']`, part);
    }
    for (const parts of [
      ["h100-sxm", "compiled for this device"],
      ["Flags", "9 differ from XLA's defaults"],
      ["gpu_autotune_level = 0", "default 4"],
      ["Thunks", "3 steps, 3 kernels"],
      ["loop_tanh_fusion", "grid 64 · block 128"],
    ]) {
      await compileRow(screen, ...parts);
    }
    await picture("flags-and-thunks");
    await screen.clickOn(COMPILES, "loop_tanh_fusion");
    await screen.waitForLine("the instruction", 30_000, "%loop_tanh_fusion = ");
    await eventually("the cursor on its line", async () => (await screen.texts(".line-numbers.active-line-number")).includes("78") || undefined);
    await picture("instruction-of-a-thunk");
    for (const part of ["Flags", "Thunks"]) {
      await screen.clickOn(`${COMPILES}[aria-expanded='true']`, part);
    }
    await screen.command("View: Show Explorer");
    await screen.command("View: Close All Editors");
  },
  "two compiles: the report shows the edit, and a click leads to the instruction": async (screen, picture, folder) => {
    const last = join(folder, DUMP_FOLDER, LAST_STAGE);
    const edited = join(folder, "edited.hlo");
    writeFileSync(edited, readFileSync(last, "utf8").replace(" tanh(", " exponential("));
    await screen.openFile(LAST_STAGE);
    await screen.command("hlo-analyzer: Compare with Another Compile");
    await screen.chooseFile(edited);
    await screen.waitForLine("the edit", 60_000, "other opcode of %tanh.3: exponential → tanh");
    await screen.waitForLine("the kernel", 10_000, "slower", "%loop_tanh_fusion");
    await picture("two-compiles");
    await screen.find(":68:9");
    const isThere = async (): Promise<true | undefined> =>
      (await screen.texts(".editor-group-container.active .line-numbers.active-line-number")).includes("68") || undefined;
    // A click while the report still scrolls misses the link; then the report stays in front.
    for (let attempt = 0; attempt < 3 && !(await isThere()); attempt++) {
      await screen.clickLink(":68:9").catch(() => undefined);
      await eventually("the cursor on its line", isThere, 8_000).catch(() => undefined);
    }
    await screen.waitForLine("the instruction", 30_000, "ROOT %tanh.3 = ");
    await eventually("the cursor on its line", isThere);
    await picture("changed-instruction");
    rmSync(edited);
    await screen.command("View: Close All Editors");
  },
  "the memory over the schedule: the peak, zoom, a click to the instruction, a file": async (screen, picture, folder) => {
    await screen.command("View: Close All Editors");
    await screen.openFile(LAST_STAGE);
    await screen.command("hlo-analyzer: Show Memory");
    const text = await screen.webview("393 kB of 394 kB in use at position 6 of 11, %loop_tanh_fusion (layer.py:9)");
    assert.ok(text.includes("peak") && text.includes("Alive from"), text);
    await picture("memory");
    await screen.clickInWebview("svg#picture line.peak");
    const line = (number: string): Promise<true> =>
      eventually(`the cursor on line ${number}`, async () => (await screen.texts(".line-numbers.active-line-number")).includes(number) || undefined);
    await screen.waitForLine("the instruction", 30_000, "%loop_tanh_fusion = ");
    await line("78");
    await screen.clickInWebview("button#in");
    await screen.clickInWebview("button#topeak");
    await screen.webview("position 6: 393 kB in use at %loop_tanh_fusion");
    await picture("memory-zoomed");
    await screen.clickInWebview("#values a", "gemm_fusion_dot");
    await line("77");
    await screen.clickInWebview("button#save");
    const svg = join(folder, "memory.svg");
    await screen.chooseFile(svg);
    await eventually("the file", () => (existsSync(svg) && readFileSync(svg, "utf8").startsWith("<svg ")) || undefined);
    rmSync(svg);
    await screen.command("View: Close All Editors");
  },
  "what would lower the peak of memory: a list, a click to the instruction": async (screen, picture) => {
    await screen.openFile(WASTEFUL);
    await screen.command("hlo-analyzer: Show Memory");
    const text = await screen.webview("What would lower the peak");
    assert.ok(text.includes("donate parameter 0 (%x, 4.19 MB): peak 12.6 → 8.42 MB"), text);
    assert.ok(text.includes("in jax: donate_argnums"), text);
    await picture("memory-advice");
    await screen.clickInWebview("#advice li:nth-child(2) a", "%x");
    await screen.waitForLine("the parameter", 30_000, "%x = ");
    await screen.command("View: Close All Editors");
  },
  "a module is compiled with the XLA of a Python, and what is missing is said": async (screen, picture, folder) => {
    const settings = join(folder, ".vscode/settings.json");
    const python = join(folder, "python");
    const runs = (program: string): void => writeFileSync(python, `#!/bin/sh\n${program}\n`, { mode: 0o755 });
    rmSync(settings, { force: true });
    await screen.command("View: Close All Editors");
    await screen.openFile(WASTEFUL);
    // The setting takes effect a little after the file of settings changes.
    const compileUntil = async (...said: string[]): Promise<void> => {
      for (let attempt = 0; ; attempt++) {
        await screen.command("Notifications: Clear All Notifications");
        await screen.command("hlo-analyzer: Compile with XLA");
        const found = await screen.notification(...said).catch(() => undefined);
        if (found !== undefined) {
          return;
        }
        assert.ok(attempt < 2, `no message with ${said.join(" and ")}`);
      }
    };
    await compileUntil("hlo-analyzer: no Python is set", "pip install 'jax[cuda12]'", "Open Settings");
    await picture("compile-without-python");
    mkdirSync(join(folder, ".vscode"), { recursive: true });
    writeFileSync(settings, JSON.stringify({ "hlo-analyzer.xla.python": python }));
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    runs("echo 'problem: INTERNAL: ptxas has no such target' >&2; exit 1");
    await compileUntil(`hlo-analyzer: ${WASTEFUL} is not compiled: INTERNAL: ptxas has no such target`);
    await screen.command("Notifications: Clear All Notifications");
    runs("sleep 100");
    await screen.command("hlo-analyzer: Compile with XLA");
    await screen.notification(`XLA compiles ${WASTEFUL}`, "Cancel");
    await picture("compile-runs");
    await screen.clickOn(".notification-toast a.monaco-button, .notification-toast .monaco-button", "Cancel");
    // In place of XLA: its dump of another module.
    runs(`cp "$(dirname "$0")"/${DUMP_FOLDER}/module_* "$5"`);
    await screen.command("hlo-analyzer: Compile with XLA");
    await eventually("the dump in the view", async () => {
      const rows = await screen.texts(COMPILES);
      return (rows.some((text) => text.includes("transposed_read-")) && rows.some((text) => text.includes("after optimizations"))) || undefined;
    });
    await screen.find("%loop_tanh_fusion = ");
    await picture("compiled");
    await screen.command("hlo-analyzer: Show Kernel");
    await eventually("the tab of XLA's kernel", async () => {
      const labels = await screen.labels(".tabs-container .tab");
      return labels.some((label) => label.includes("loop_tanh_fusion.xla.ptx")) || undefined;
    });
    await picture("compiled-kernel");
    await screen.hoverOver(COMPILES, "transposed_read-");
    await screen.clickOn(`${COMPILES} .action-label[aria-label='Remove from View']`);
    await eventually("one folder again", async () => (await screen.count(COMPILES, "transposed_read-")) === 0 || undefined);
    await screen.command("View: Show Explorer");
    await screen.command("View: Close All Editors");
  },
  "the status item has device, memory, version, restart and log": async (screen, picture) => {
    await screen.openFile(WASTEFUL);
    await screen.clickOn(".statusbar-item a", "h100-sxm");
    const rows = await eventually("the menu", async () => {
      const found = await screen.pickerRows();
      return found.length >= 5 ? found : undefined;
    });
    for (const name of ["Device", "h100-sxm", "Memory", "MB", "Version", "Restart", "Log"]) {
      assert.ok(rows.some((row) => row.includes(name)), rows.join(" | "));
    }
    await picture("status");
    await screen.press("Enter");
    await eventually("the devices", async () => (await screen.pickerRows()).some((row) => row.includes("a100")) || undefined);
    await picture("devices");
    await screen.press("Escape");
  },
  "the walkthrough leads from a dump to its memory": async (screen, picture) => {
    await screen.command("Welcome: Open Walkthrough");
    await eventually("the walkthroughs", async () => ((await screen.pickerRows()).some((row) => row.includes(WALKTHROUGH)) ? true : undefined));
    await screen.type(WALKTHROUGH);
    await screen.press("Enter");
    const titles = await eventually("its steps", async () => {
      const all = await screen.texts(".getting-started-step .step-title");
      return all.length >= 5 ? all : undefined;
    });
    assert.ok(titles.includes("Read the warnings"), titles.join(" | "));
    await screen.clickOn(".getting-started-step", "Read the warnings");
    await eventually("its picture", async () => ((await screen.count(".getting-started-media img")) > 0 ? true : undefined));
    await picture("walkthrough");
    await screen.command("View: Close All Editors");
  },
};

/** Once is enough: the theme changes nothing. */
export const LARGE_FILES: Record<string, Step> = {
  "a file of more than 20 MB has colours, lenses and hovers": async (screen, picture) => {
    await screen.openFile(LARGE);
    await screen.waitForLine("the text", 60_000, "%add_fusion");
    await eventually("a lens", async () => ((await screen.count(".codelens-decoration")) > 0 ? true : undefined), 60_000);
    const colours = await screen.colours(READ);
    assert.ok(colours > 3, `${colours} colours`);
    await screen.hover(READ, "%add_fusion", "MB");
    await picture("large");
    await screen.press("Escape");
  },
  "a file of more than 50 MB is explained, and read from disk": async (screen, picture) => {
    await screen.openFile(HUGE);
    await screen.notification("does not pass files above 50 MB to extensions", "Heaviest Kernels");
    await picture("huge");
    await screen.command("hlo-analyzer: Heaviest Kernels");
    await eventually(
      "the kernels",
      async () => (await screen.texts(".pane-body .monaco-list-row")).some((row) => row.includes("add_fusion")) || undefined,
      60_000,
    );
    await picture("huge-kernels");
    await screen.clickOn(".pane-body .monaco-list-row", "add_fusion");
    await screen.waitForLine("the kernel in the file", 30_000, READ);
    await screen.command("hlo-analyzer: Show Kernel");
    await eventually("a kernel to pick", async () => (await screen.pickerRows()).some((row) => row.includes("add_fusion")) || undefined);
    await screen.press("Enter");
    await screen.waitForLine("its code", 60_000, "func.func @add_fusion(");
    await picture("huge-kernel");
    await screen.command("View: Close All Editors");
    await screen.command("View: Hide Panel");
  },
};

/** Shows the view of compiles with that of the fixture expanded. */
async function showCompile(screen: Screen): Promise<void> {
  await screen.command("View: Close All Editors");
  await screen.command("XLA Compiles: Focus on Compiles View");
  const closed = `${DUMP_FOLDER} · module 1 · 8 stages`;
  await compileRow(screen, closed);
  if ((await screen.count(COMPILES, "after optimizations")) === 0) {
    await screen.clickOn(`${COMPILES}[aria-expanded='false']`, closed);
  }
  await compileRow(screen, "after optimizations");
}

/** Waits for a row of the view of compiles that has these texts. */
async function compileRow(screen: Screen, ...parts: string[]): Promise<string> {
  return eventually(parts.join(" "), async () =>
    (await screen.texts(COMPILES)).find((text) => parts.every((part) => text.includes(part))),
  );
}

/** Those that the extension's README and walkthrough show, in the first theme. `UPDATE_EXPECT=1` takes them anew. */
const PUBLISHED = ["access-pattern", "compare", "kernel", "memory", "warning"];
const PUBLISHED_FOLDER = join(import.meta.dirname, "../../../editor-clients/vscode/images/tour");

/** Numbers the pictures of one theme. */
export function album(folder: string, screen: Screen): (name: string) => Promise<void> {
  mkdirSync(folder, { recursive: true });
  let number = 0;
  return async (name) => {
    number += 1;
    const path = join(folder, `${String(number).padStart(2, "0")}-${name}.png`);
    const isPublished = process.env["UPDATE_EXPECT"] !== undefined && folder.endsWith(THEMES[0]) && PUBLISHED.includes(name);
    if (isPublished) {
      // A popup fades in.
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    await screen.screenshot(path);
    if (isPublished) {
      copyFileSync(path, join(PUBLISHED_FOLDER, `${name}.png`));
    }
  };
}

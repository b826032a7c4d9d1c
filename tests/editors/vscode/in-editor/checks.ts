// Runs inside VS Code's extension host, as an extension of its own, with the whole `vscode` API.

import assert from "node:assert/strict";
import { copyFileSync, existsSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import {
  BESIDE,
  type CheckResult,
  DEADLY,
  DEADLY_SERVER,
  DUMP,
  eventually,
  FIXTURE,
  GO,
  MLIR_FIXTURE,
  REAL_DUMP,
  REPORT,
  UNFUSED,
  UNKNOWN_NAME,
  WASTEFUL,
} from "../report.ts";

export async function activate(): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  if (folder === undefined) {
    return;
  }
  await eventually("the driver's word to go", () => existsSync(join(folder, GO)) || undefined, 300_000);
  // As what was looked at on the screen has left it.
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
  const checks: CheckResult[] = [];
  for (const [name, check] of Object.entries(CHECKS)) {
    if (name.includes("real program") && !existsSync(join(folder, REAL_DUMP))) {
      continue;
    }
    const start = Date.now();
    const failure = await check((file) => vscode.Uri.file(join(folder, file))).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? briefly(error) : String(error)),
    );
    checks.push({ name, milliseconds: Date.now() - start, failure });
  }
  // The driver polls for the file, so it appears at once or not at all.
  const part = join(folder, `${REPORT}.part`);
  writeFileSync(part, JSON.stringify({ editor: `VS Code ${vscode.version}`, checks }));
  renameSync(part, join(folder, REPORT));
}

/** The scheme of the pages of kernels. */
const KERNEL_SCHEME = "hlo-analyzer-kernel";

type Check = (uri: (file: string) => vscode.Uri) => Promise<void>;

const CHECKS: Record<string, Check> = {
  "a dump is recognised by XLA's file name": async (uri) => {
    assert.equal((await open(uri(DUMP))).languageId, "hlo");
  },
  "plain text that starts with HloModule is switched to HLO, once": async (uri) => {
    await open(uri(UNKNOWN_NAME));
    const language = () => documentOf(uri(UNKNOWN_NAME))?.languageId;
    await eventually("the switch to hlo", () => language() === "hlo" || undefined);
    const switched = documentOf(uri(UNKNOWN_NAME));
    assert.ok(switched);
    await vscode.languages.setTextDocumentLanguage(switched, "plaintext");
    await new Promise((resolve) => setTimeout(resolve, 1000));
    assert.equal(language(), "plaintext", "the user's own choice stays");
  },
  "what XLA writes beside a dump stays plain text": async (uri) => {
    assert.equal((await open(uri(BESIDE))).languageId, "plaintext");
  },
  "hover on a transpose: its line, its size, its map, its origin": async (uri) => {
    const text = await hoverOn(await open(uri(FIXTURE)), "%transpose.3 =");
    for (const part of ["transpose(%add.4)", "800", "(d0, d1) -> (d1, d0)", "d0 in [0, 9]", "jit(step)/transpose"]) {
      assert.ok(text.includes(part), `“${part}” is not in the hover:\n${text}`);
    }
  },
  "hover on a fusion: one composed map to each parameter": async (uri) => {
    const text = await hoverOn(await open(uri(FIXTURE)), "%input_transpose_fusion =");
    for (const part of ["%x.1", "(d0, d1) -> (d1, d0)", "%bias.1", "(d0, d1) -> (d0)"]) {
      assert.ok(text.includes(part), `“${part}” is not in the hover:\n${text}`);
    }
  },
  "inlay hints: domains, switched off and on by the setting": async (uri) => {
    const document = await open(uri(FIXTURE));
    const line = positionOf(document, "%reduce.7 =").line;
    const shown = async (): Promise<boolean> =>
      (await inlayHints(document)).some(
        (hint) => hint.position.line === line && labelOf(hint).includes("d0 ≤ 9, s0 ≤ 19"),
      );
    await eventually("the hint", async () => (await shown()) || undefined);
    const settings = vscode.workspace.getConfiguration("hlo-analyzer");
    await settings.update("inlayHints.domains", false, vscode.ConfigurationTarget.Global);
    await eventually("no hint when switched off", async () => !(await shown()) || undefined);
    await settings.update("inlayHints.domains", undefined, vscode.ConfigurationTarget.Global);
    await eventually("the hint when switched on again", async () => (await shown()) || undefined);
  },
  "the outline names the computations": async (uri) => {
    const names = (await symbols(await open(uri(FIXTURE)))).map((symbol) => symbol.name).join(" ");
    for (const computation of ["region_0.5", "fused_transpose", "fused_reduce", "main.9"]) {
      assert.ok(names.includes(computation), `no ${computation} in ${names}`);
    }
  },
  "go to definition of an operand": async (uri) => {
    const document = await open(uri(FIXTURE));
    const at = positionOf(document, "%add.4), dimensions").translate(0, 2);
    const found = await eventually("a definition", async () => {
      const command = "vscode.executeDefinitionProvider";
      return (await vscode.commands.executeCommand<Target[]>(command, document.uri, at))[0];
    });
    const range = "targetUri" in found ? (found.targetSelectionRange ?? found.targetRange) : found.range;
    assert.equal(range.start.line, positionOf(document, "%add.4 =").line);
  },
  "a broken line has a diagnostic with source and code, a mended one none": async (uri) => {
    const document = await open(uri(FIXTURE));
    const errors = (): vscode.Diagnostic[] => vscode.languages.getDiagnostics(document.uri).filter(isError);
    await eventually("no error before", () => errors().length === 0 || undefined);
    const operand = positionOf(document, "%add.4), dimensions");
    const range = new vscode.Range(operand, operand.translate(0, "%add.4".length));
    await replace(document, range, "%zzz.4");
    // What the operand named is an error of its own now: nothing uses it.
    const here = () => errors().find((found) => found.range.start.line === range.start.line);
    const error = await eventually("an error", here);
    assert.equal(error.source, "hlo-analyzer");
    assert.ok(error.code !== undefined, "the diagnostic has a code");
    await replace(document, range, "%add.4");
    await eventually("no error after", () => errors().length === 0 || undefined);
    await vscode.commands.executeCommand("workbench.action.files.revert");
  },
  "show kernel opens both tabs beside the HLO, the first in front": async (uri) => {
    const { mlir, ptx } = await showKernel(uri(FIXTURE));
    assert.ok(mlir.document.getText().startsWith("// %input_transpose_fusion | loop | "), mlir.document.getText());
    assert.equal(ptx.languageId, "ptx");
    assert.ok(ptx.getText().includes(".visible .entry input_transpose_fusion("), ptx.getText());
    const front = vscode.window.visibleTextEditors.find(({ document }) => document.uri.path.endsWith("fusion.mlir"));
    assert.ok(front?.viewColumn !== undefined && front.viewColumn > vscode.ViewColumn.One);
  },
  "show kernel from the menu takes the cursor's place": async (uri) => {
    const { hlo } = await showKernel(uri(FIXTURE));
    const at = positionOf(hlo.document, "%reduce.7 =");
    const editor = await vscode.window.showTextDocument(hlo.document, { viewColumn: vscode.ViewColumn.One });
    editor.selection = new vscode.Selection(at, at);
    // As a menu calls it.
    await vscode.commands.executeCommand("hlo-analyzer.showKernel", hlo.document.uri);
    const names = vscode.window.visibleTextEditors.map(({ document }) => document.uri.path);
    assert.ok(names.includes("/input_reduce_fusion.mlir"), names.join(" "));
  },
  "a preview follows the cursor on both sides, and edits": async (uri) => {
    const document = await vscode.workspace.openTextDocument(uri(UNFUSED));
    const source = await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.One });
    await vscode.commands.executeCommand("hlo-analyzer.showAsFused", document.uri.toString());
    const isPreview = ({ document }: vscode.TextEditor): boolean => document.uri.scheme === "hlo-analyzer-preview";
    const preview = await eventually("the preview", () => {
      const found = vscode.window.visibleTextEditors.find(isPreview);
      return found?.document.getText().includes(" fusion(") ? found : undefined;
    });
    assert.equal(preview.document.languageId, "hlo");
    const linesOf = (editor: vscode.TextEditor): number[] => {
      const runs = extension().exports.previews.marked(editor.document.uri);
      return runs.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, n) => first + n));
    };
    const shifted = positionOf(document, "%shifted =");
    source.selection = new vscode.Selection(shifted, shifted);
    const fused = (): string[] => linesOf(preview).map((line) => preview.document.lineAt(line).text);
    await eventually("the marks of the fusion", () => (fused().some((line) => line.includes(" add(")) ? true : undefined));
    const line = preview.document.getText().split("\n").findIndex((text) => text.includes(" rsqrt("));
    const editor = await vscode.window.showTextDocument(preview.document, { viewColumn: preview.viewColumn });
    editor.selection = new vscode.Selection(line, 4, line, 4);
    await eventually("the mark of its source", () => linesOf(source).includes(positionOf(document, "%root =").line) || undefined);
    const operation = positionOf(document, "add(%scaled");
    await replace(document, new vscode.Range(operation, operation.translate(0, "add".length)), "subtract");
    await eventually("the new text", () => preview.document.getText().includes(" subtract(") || undefined);
    await vscode.commands.executeCommand("hlo-analyzer.comparePreview", document.uri.toString(), ["cse"]);
    await eventually("the diff", () => {
      const { activeTab } = vscode.window.tabGroups.activeTabGroup;
      return activeTab?.input instanceof vscode.TabInputTextDiff || undefined;
    });
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.One });
    await vscode.commands.executeCommand("workbench.action.files.revert");
    await vscode.commands.executeCommand("workbench.action.closeAllEditors");
  },
  "kernels use one group of tabs again, pinned tabs stay": async (uri) => {
    const document = await open(uri(WASTEFUL));
    const show = async (name: string): Promise<string[]> => {
      const { line, character } = positionOf(document, `%${name} =`).translate(0, 1);
      await vscode.commands.executeCommand("hlo-analyzer.showKernel", document.uri.toString(), { line, character });
      const groups = vscode.window.tabGroups.all.filter(({ tabs }) => tabs.some(isKernelTab));
      assert.equal(groups.length, 1, "one group has kernels");
      return groups.flatMap(({ tabs }) => tabs.filter(isKernelTab).map(({ label }) => label));
    };
    const first = await show("add_fusion");
    assert.ok(first.length >= 3 && first.every((label) => label.startsWith("add_fusion.")), first.join(" "));
    assert.deepEqual(await show("add_fusion"), first, "the same tabs, not more of them");
    const second = await show("scale_fusion");
    assert.deepEqual(second, first.map((label) => label.replace("add_fusion", "scale_fusion")));
    // A tab of the group in front is pinned: the PTX, for which it is made the active one.
    const ptx = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).find(({ label }) => label === "scale_fusion.ptx");
    assert.ok(ptx?.input instanceof vscode.TabInputText);
    await vscode.window.showTextDocument(ptx.input.uri, { viewColumn: ptx.group.viewColumn, preview: false });
    await vscode.commands.executeCommand("workbench.action.pinEditor");
    const third = await show("add_fusion");
    assert.ok(third.includes("scale_fusion.ptx") && !third.includes("scale_fusion.mlir"), third.join(" "));
    await vscode.window.tabGroups.close(vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs));
  },
  "a warning is disabled in the settings by its action": async (uri) => {
    const document = await open(uri(WASTEFUL));
    const warnings = (): vscode.Diagnostic[] =>
      vscode.languages.getDiagnostics(document.uri).filter(({ severity }) => severity === vscode.DiagnosticSeverity.Warning);
    const [warning] = await eventually("a warning", () => (warnings().length > 0 ? warnings() : undefined));
    assert.ok(warning && typeof warning.code === "object", "its code is a link");
    const command = "vscode.executeCodeActionProvider";
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(command, document.uri, warning.range);
    const action = actions.find(({ title }) => title === "Disable the warning uncoalesced");
    assert.ok(action?.command, actions.map(({ title }) => title).join(", "));
    // Not awaited: it ends when its message is answered.
    void vscode.commands.executeCommand(action.command.command, ...(action.command.arguments ?? []));
    await eventually("no warning", () => warnings().length === 0 || undefined);
    const settings = vscode.workspace.getConfiguration("hlo-analyzer");
    assert.deepEqual(settings.get("warnings.disabled"), ["uncoalesced"]);
    await settings.update("warnings.disabled", undefined, vscode.ConfigurationTarget.Global);
    await eventually("the warning again", () => warnings().length > 0 || undefined);
  },
  "the kernel follows the cursor in the HLO, and the HLO that in the kernel": async (uri) => {
    const { hlo, mlir } = await showKernel(uri(FIXTURE));
    const add = positionOf(hlo.document, "%add.4 =");
    for (const [instruction, code] of [["%add.4 =", "arith.addf"], ["%x.1 =", "tensor.extract"]] as const) {
      const at = positionOf(hlo.document, instruction);
      hlo.selection = new vscode.Selection(at, at);
      await eventually(`lines with ${code}`, () => {
        const lines = marked(mlir.document).map((line) => mlir.document.lineAt(line).text);
        return lines.some((line) => line.includes(code)) || undefined;
      });
    }
    const line = positionOf(mlir.document, "arith.addf");
    const kernel = await vscode.window.showTextDocument(mlir.document, { viewColumn: mlir.viewColumn ?? 2 });
    kernel.selection = new vscode.Selection(line, line);
    await eventually("the instruction in the HLO", () => marked(hlo.document).includes(add.line) || undefined);
    assert.deepEqual(marked(hlo.document), [add.line]);
  },
  "go to definition and hover lead from the kernel to the HLO": async (uri) => {
    const { hlo, ptx } = await showKernel(uri(FIXTURE));
    const at = positionOf(ptx, "add.rn.f32");
    const found = await eventually("a definition", async () => {
      const command = "vscode.executeDefinitionProvider";
      return (await vscode.commands.executeCommand<Target[]>(command, ptx.uri, at))[0];
    });
    const [target, range] = "targetUri" in found ? [found.targetUri, found.targetRange] : [found.uri, found.range];
    assert.equal(target.toString(), hlo.document.uri.toString());
    assert.equal(range.start.line, positionOf(hlo.document, "%add.4 =").line);
    const hover = await hoverOn(ptx, "ld.global");
    assert.ok(hover.includes("thread →") && hover.includes("sectors per request"), hover);
  },
  "the kernel is up to date with the HLO": async (uri) => {
    const { hlo, ptx } = await showKernel(uri(FIXTURE));
    const at = positionOf(hlo.document, "add(%param_0.1");
    const range = new vscode.Range(at, at.translate(0, "add".length));
    await replace(hlo.document, range, "multiply");
    await eventually("a product in the PTX", () => ptx.getText().includes("mul.rn.f32") || undefined);
    assert.ok(!ptx.getText().includes("add.rn.f32"));
    await vscode.commands.executeCommand("workbench.action.files.revert");
    await eventually("the sum in the PTX", () => ptx.getText().includes("add.rn.f32") || undefined);
  },
  "an instruction is evaluated": async (uri) => {
    const document = await open(uri(FIXTURE));
    const { line, character } = positionOf(document, "%reduce_sum.3 =");
    const command = "hlo-analyzer.evaluateInstruction";
    const at = { line, character: character + 1 };
    const evaluated = (values: string | string[]): Thenable<string> =>
      vscode.commands.executeCommand<string>(command, document.uri.toString(), at, values);
    const typed = await evaluated(["2", "3"]);
    assert.ok(typed.startsWith("%reduce_sum.3: f32[]\n5\n"), typed);
    const zeros = await evaluated("zeros");
    assert.ok(zeros.startsWith("%reduce_sum.3: f32[]\n0\n") && zeros.includes("Parameters (zeros)"), zeros);
    assert.equal(await evaluated("random"), await evaluated("random"));
    // The editor asks for a page's new text after the command's answer.
    await eventually("the page with random parameters", () => {
      const pages = vscode.workspace.textDocuments.filter(({ uri }) => uri.scheme === "hlo-analyzer-value");
      return pages.some((page) => page.getText().includes("Parameters (random, seed 0)")) || undefined;
    });
    await vscode.commands.executeCommand("workbench.action.closeEditorsInOtherGroups");
  },
  "MLIR: outline, hover with its map, definition, hints, rename": async (uri) => {
    const document = await open(uri(MLIR_FIXTURE));
    assert.equal(document.languageId, "mlir");
    const names = (await symbols(document)).map((symbol) => symbol.name).join(" ");
    assert.ok(names.includes("@tiles") && names.includes("@main"), names);
    const hover = await hoverOn(document, "stablehlo.transpose");
    assert.ok(hover.includes("(d0, d1) -> (d1, d0)"), hover);
    const at = positionOf(document, "@tiles(%x, %n) :").translate(0, 2);
    const found = await eventually("a definition", async () => {
      const command = "vscode.executeDefinitionProvider";
      return (await vscode.commands.executeCommand<Target[]>(command, document.uri, at))[0];
    });
    const range = "targetUri" in found ? (found.targetSelectionRange ?? found.targetRange) : found.range;
    assert.equal(range.start.line, positionOf(document, "func.func @tiles").line);
    await eventually("a hint", async () => (await inlayHints(document)).length > 0 || undefined);
    const rename = "vscode.executeDocumentRenameProvider";
    const row = positionOf(document, "%rows =").translate(0, 1);
    const edit = await vscode.commands.executeCommand<vscode.WorkspaceEdit>(rename, document.uri, row, "lines");
    assert.equal(edit.get(document.uri).length, 2);
  },
  "MLIR: show kernel and evaluate": async (uri) => {
    const document = await open(uri(MLIR_FIXTURE));
    const { line, character } = positionOf(document, "stablehlo.transpose");
    const ptx = async (): Promise<vscode.TextDocument | undefined> => {
      await vscode.commands.executeCommand("hlo-analyzer.showKernel", document.uri.toString(), { line, character });
      const shown = vscode.workspace.textDocuments.filter(({ uri }) => uri.path.endsWith(".ptx"));
      return shown.find((kernel) => kernel.getText().includes(".entry") && kernel.getText().includes("transpose"));
    };
    await eventually("its PTX", ptx).catch((error: unknown) => {
      const pages = vscode.workspace.textDocuments.filter(({ uri }) => uri.scheme === KERNEL_SCHEME);
      const shown = pages.map((page) => `${page.uri.path}: ${page.getText().slice(0, 300)}`);
      throw new Error(`${String(error)}; shown instead:\n${shown.join("\n")}`);
    });
    await vscode.window.showTextDocument(document);
    const evaluate = "hlo-analyzer.evaluateInstruction";
    const at = positionOf(document, "stablehlo.add");
    const value = await vscode.commands.executeCommand<string>(evaluate, document.uri.toString(), at, ["{1, 2}"]);
    assert.ok(value.includes(": f32[2]\n2  4\n"), value);
    await vscode.commands.executeCommand("workbench.action.closeEditorsInOtherGroups");
  },
  "MLIR: a slice of a reshape becomes a slice of its source": async (uri) => {
    const document = await open(uri(MLIR_FIXTURE));
    const at = positionOf(document, "tensor.extract_slice");
    const action = await eventually("the action", async () => {
      const command = "vscode.executeCodeActionProvider";
      const range = new vscode.Range(at, at);
      const found = await vscode.commands.executeCommand<vscode.CodeAction[]>(command, document.uri, range, undefined, 20);
      return found.find((action) => action.title === "Replace by 1 slice");
    });
    assert.ok(action.edit);
    assert.ok(await vscode.workspace.applyEdit(action.edit));
    const text = document.getText();
    assert.ok(text.includes("tensor.extract_slice %x[2, 0, 0] [1, 10, 100] [1, 1, 1]"), text);
    assert.ok(!text.includes("collapse_shape"), text);
    const errors = (): vscode.Diagnostic[] => vscode.languages.getDiagnostics(document.uri).filter(isError);
    assert.deepEqual(errors(), []);
    await vscode.commands.executeCommand("workbench.action.files.revert");
  },
  "a restarted server answers": async (uri) => {
    const document = await open(uri(FIXTURE));
    await vscode.commands.executeCommand("hlo-analyzer.restartServer");
    assert.ok((await hoverOn(document, "%reduce.7 =")).includes("reduce"));
  },
  "a real program's dump has an outline, hovers and no error": (uri) => realDump(uri),
  "a file that kills the server three times is held back, and named; all others work": async (uri) => {
    const good = await open(uri(FIXTURE));
    await withServerElsewhere(uri, uri(DEADLY_SERVER).fsPath, async (elsewhere) => {
      copyFileSync(uri(DEADLY_SERVER).fsPath, join(elsewhere, DEADLY_SERVER));
      await vscode.workspace
        .getConfiguration("hlo-analyzer")
        .update("server.path", join(elsewhere, DEADLY_SERVER), vscode.ConfigurationTarget.Global);
      await vscode.commands.executeCommand("hlo-analyzer.restartServer");
      assert.ok((await hoverOn(good, "%transpose.3 =")).includes("transpose"));
      const deadly = uri(DEADLY);
      await open(deadly);
      const held = (): string[] => extension().exports.held();
      await eventually("the file is held back", () => held().includes(deadly.toString()) || undefined, 60_000);
      assert.deepEqual(held(), [deadly.toString()]);
      assert.ok((await hoverOn(good, "%transpose.3 =")).includes("transpose"), "the others work on");
      await vscode.commands.executeCommand("workbench.action.closeActiveEditor");
    });
    await open(uri(FIXTURE));
    assert.ok((await hoverOn(good, "%transpose.3 =")).includes("transpose"));
  },
  // Last, because it takes the server away; the driver then looks for the message.
  "without a server inside, the one from the settings answers": async (uri) => {
    const elsewhere = uri("server-elsewhere").fsPath;
    renameSync(join(extension().extensionPath, "server"), elsewhere);
    const settings = vscode.workspace.getConfiguration("hlo-analyzer");
    const program = join(elsewhere, "hlo-analyzer");
    await settings.update("server.path", program, vscode.ConfigurationTarget.Global);
    try {
      await vscode.commands.executeCommand("hlo-analyzer.restartServer");
      assert.ok((await hoverOn(await open(uri(FIXTURE)), "%transpose.3 =")).includes("transpose(%add.4)"));
    } finally {
      await settings.update("server.path", undefined, vscode.ConfigurationTarget.Global);
    }
  },
};

interface Exports {
  kernels: { marked(uri: vscode.Uri): [number, number][] };
  previews: { marked(uri: vscode.Uri): [number, number][] };
  held(): string[];
}

function extension(): vscode.Extension<Exports> {
  const found = vscode.extensions.getExtension<Exports>("hlo-analyzer.hlo-analyzer");
  assert.ok(found);
  return found;
}

/** While `check` runs the server is not inside the extension, so that the settings name one. */
async function withServerElsewhere(
  uri: (file: string) => vscode.Uri,
  program: string,
  check: (folder: string) => Promise<void>,
): Promise<void> {
  assert.ok(existsSync(program));
  const inside = join(extension().extensionPath, "server");
  const elsewhere = uri("server-moved").fsPath;
  renameSync(inside, elsewhere);
  try {
    await check(elsewhere);
  } finally {
    renameSync(elsewhere, inside);
    const settings = vscode.workspace.getConfiguration("hlo-analyzer");
    await settings.update("server.path", undefined, vscode.ConfigurationTarget.Global);
    await vscode.commands.executeCommand("hlo-analyzer.restartServer");
  }
}

function isKernelTab({ input }: vscode.Tab): boolean {
  return input instanceof vscode.TabInputText && input.uri.scheme === KERNEL_SCHEME;
}

async function realDump(uri: (file: string) => vscode.Uri): Promise<void> {
  const document = await open(uri(REAL_DUMP));
  assert.ok((await symbols(document)).length > 0);
  const root = /ROOT (%[\w.-]+) = /.exec(document.getText())?.[1];
  assert.ok(root);
  assert.ok((await hoverOn(document, `${root} =`)).includes(root));
  assert.deepEqual(vscode.languages.getDiagnostics(document.uri).filter(isError).map((found) => found.message), []);
}

/** The message and the line of the check it comes from; what lies below is VS Code. */
function briefly(error: Error): string {
  const lines = (error.stack ?? error.message).split("\n");
  const calls = lines.findIndex((line) => /^\s+at /.test(line));
  return lines.slice(0, calls < 0 ? 10 : calls + 1).join("\n");
}

type Target = vscode.Location | vscode.LocationLink;

interface ShownKernel {
  hlo: vscode.TextEditor;
  mlir: vscode.TextEditor;
  ptx: vscode.TextDocument;
}

/** Shows the kernel of the fixture's first fusion, with the cursor left in the HLO. */
async function showKernel(uri: vscode.Uri): Promise<ShownKernel> {
  const document = await vscode.workspace.openTextDocument(uri);
  const hlo = await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.One });
  const { line, character } = positionOf(document, "%input_transpose_fusion =");
  const at = { line, character: character + 1 };
  const kernels = () => vscode.workspace.textDocuments.filter((open) => open.uri.scheme === "hlo-analyzer-kernel");
  return eventually("the kernel", async () => {
    await vscode.commands.executeCommand("hlo-analyzer.showKernel", uri.toString(), at);
    const ptx = kernels().find((open) => open.uri.path.endsWith("input_transpose_fusion.ptx"));
    const mlir = vscode.window.visibleTextEditors.find((editor) => editor.document.uri.path.endsWith("input_transpose_fusion.mlir"));
    const isThere = ptx?.getText().includes(".entry") && mlir?.document.getText().includes("func.func");
    return isThere && ptx && mlir ? { hlo, mlir, ptx } : undefined;
  });
}

/** The lines that the extension has marked in a document. */
function marked(document: vscode.TextDocument): number[] {
  const runs = extension().exports.kernels.marked(document.uri);
  return runs.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, n) => first + n));
}

async function open(uri: vscode.Uri): Promise<vscode.TextDocument> {
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document);
  return document;
}

function documentOf(uri: vscode.Uri): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
}

function positionOf(document: vscode.TextDocument, text: string): vscode.Position {
  const offset = document.getText().indexOf(text);
  assert.ok(offset >= 0, `no “${text}” in ${document.uri.path}`);
  return document.positionAt(offset);
}

async function hoverOn(document: vscode.TextDocument, text: string): Promise<string> {
  const at = positionOf(document, text).translate(0, 1);
  return eventually(`a hover on ${text}`, async () => {
    const command = "vscode.executeHoverProvider";
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(command, document.uri, at);
    const parts = hovers.flatMap((hover) => hover.contents);
    const joined = parts.map((part) => (typeof part === "string" ? part : part.value)).join("\n");
    // Long maps may wrap, and markdown may escape: neither is what this is about.
    return joined === "" ? undefined : joined.replace(/\s+/g, " ").replace(/\\([<>[\]()_*.-])/g, "$1");
  });
}

async function inlayHints(document: vscode.TextDocument): Promise<vscode.InlayHint[]> {
  const whole = new vscode.Range(0, 0, document.lineCount, 0);
  const command = "vscode.executeInlayHintProvider";
  return vscode.commands.executeCommand<vscode.InlayHint[]>(command, document.uri, whole);
}

function labelOf(hint: vscode.InlayHint): string {
  return typeof hint.label === "string" ? hint.label : hint.label.map((part) => part.value).join("");
}

async function symbols(document: vscode.TextDocument): Promise<vscode.DocumentSymbol[]> {
  return eventually("document symbols", async () => {
    const command = "vscode.executeDocumentSymbolProvider";
    const found = await vscode.commands.executeCommand<vscode.DocumentSymbol[] | undefined>(command, document.uri);
    return found !== undefined && found.length > 0 ? found : undefined;
  });
}

function isError(diagnostic: vscode.Diagnostic): boolean {
  return diagnostic.severity === vscode.DiagnosticSeverity.Error;
}

async function replace(document: vscode.TextDocument, range: vscode.Range, text: string): Promise<void> {
  const edit = new vscode.WorkspaceEdit();
  edit.replace(document.uri, range, text);
  assert.ok(await vscode.workspace.applyEdit(edit));
}

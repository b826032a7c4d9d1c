import * as vscode from "vscode";
import { KERNEL_SCHEME } from "./schemes";

/** The kernels shown so far. A second one during the first would take its tabs for those of an earlier kernel, or miss some. */
let shown: Promise<void> = Promise.resolve();

/**
 * Shows the tabs of a kernel in one editor group, and closes the unpinned tabs of the previous kernel, so
 * that the group is reused. The kind of the active tab stays: a user who reads PTX gets the PTX of the next
 * kernel.
 */
export function openTabs(uris: vscode.Uri[]): Promise<void> {
  shown = shown.catch(() => undefined).then(() => open(uris));
  return shown;
}

async function open(uris: vscode.Uri[]): Promise<void> {
  const group = vscode.window.tabGroups.all.find(({ tabs }) => tabs.some(isKernel));
  const wanted = new Set(uris.map(String));
  const former = group?.activeTab && kernelOf(group.activeTab);
  const front = uris.find((uri) => former && endingOf(uri) === endingOf(former)) ?? uris[0];
  const stale = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.filter(isKernel)).filter((tab) => {
    const uri = kernelOf(tab);
    return uri !== undefined && !tab.isPinned && !wanted.has(uri.toString());
  });
  let viewColumn = group?.viewColumn ?? vscode.ViewColumn.Beside;
  for (const uri of front ? [...uris, front] : uris) {
    const editor = await vscode.window.showTextDocument(uri, { viewColumn, preserveFocus: true, preview: false });
    viewColumn = editor.viewColumn ?? viewColumn;
  }
  // Closed last, because a group without tabs closes.
  await vscode.window.tabGroups.close(stale, true);
}

function kernelOf({ input }: vscode.Tab): vscode.Uri | undefined {
  return input instanceof vscode.TabInputText && input.uri.scheme === KERNEL_SCHEME ? input.uri : undefined;
}

function isKernel(tab: vscode.Tab): boolean {
  return kernelOf(tab) !== undefined;
}

/**
 * Returns the kind of a kernel's tab: `ptx`, `mlir`, `passes.mlir`. Names of instructions also contain dots.
 */
function endingOf(uri: vscode.Uri): string | undefined {
  return /(passes\.mlir|xtile\.mlir|ttir\.mlir|kernel\.txt|mlir|xla\.ptx|ptx|sass)$/.exec(uri.path)?.[1];
}

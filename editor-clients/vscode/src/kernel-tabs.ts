import * as vscode from "vscode";
import { KERNEL_SCHEME } from "./schemes";

/**
 * Shows the tabs of one kernel in one editor group, and takes those of another kernel away that nobody has pinned: the group is
 * used again for each kernel. What was in front stays so: who reads PTX gets the PTX of the next kernel.
 */
export async function openTabs(uris: vscode.Uri[]): Promise<void> {
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
    const shown = await vscode.window.showTextDocument(uri, { viewColumn, preserveFocus: true, preview: false });
    viewColumn = shown.viewColumn ?? viewColumn;
  }
  // Afterwards: a group without a tab closes.
  await vscode.window.tabGroups.close(stale, true);
}

function kernelOf({ input }: vscode.Tab): vscode.Uri | undefined {
  return input instanceof vscode.TabInputText && input.uri.scheme === KERNEL_SCHEME ? input.uri : undefined;
}

function isKernel(tab: vscode.Tab): boolean {
  return kernelOf(tab) !== undefined;
}

/** `ptx`, `mlir`, `passes.mlir`: which of a kernel's tabs it is. Names of instructions have dots of their own. */
function endingOf(uri: vscode.Uri): string | undefined {
  return /(passes\.mlir|kernel\.txt|mlir|ptx|sass)$/.exec(uri.path)?.[1];
}

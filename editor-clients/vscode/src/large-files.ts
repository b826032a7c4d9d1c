// VS Code disables features in large files. Above 20 MB (or 300,000 lines) a text has no colours, folds,
// lenses and hints, unless `editor.largeFileOptimizations` is off for its language when it is opened; the
// package turns it off for HLO and MLIR. Above 50 MB extensions do not receive the text at all, whatever the
// settings.

import { open, stat } from "node:fs/promises";
import * as vscode from "vscode";

/** The size from which on VS Code applies its optimisations, unless they are off. */
const OPTIMISED = 20 * 1024 * 1024;
/** The size from which on VS Code does not pass a text to extensions. */
const NOT_SYNCED = 50 * 1024 * 1024;

export interface LargeFile {
  uri: vscode.Uri;
  languageId: "hlo" | "mlir";
  size: number;
}

/** Returns the active file if it is HLO or MLIR and VS Code does not pass it to extensions. */
export async function largeFileInFront(): Promise<LargeFile | undefined> {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  if (!(input instanceof vscode.TabInputText) || input.uri.scheme !== "file") {
    return undefined;
  }
  const { uri } = input;
  const size = await sizeOf(uri);
  const languageId = size > NOT_SYNCED ? await languageOf(uri) : undefined;
  return languageId && { uri, languageId, size };
}

export function registerLargeFiles(): vscode.Disposable {
  const told = new Set<string>();
  const look = async (): Promise<void> => {
    const file = await largeFileInFront();
    if (file && !told.has(file.uri.toString())) {
      told.add(file.uri.toString());
      await tellNotSynced(file);
    }
  };
  void look();
  return vscode.Disposable.from(
    vscode.window.tabGroups.onDidChangeTabs(() => void look()),
    vscode.window.tabGroups.onDidChangeTabGroups(() => void look()),
  );
}

async function tellNotSynced({ uri, size }: LargeFile): Promise<void> {
  const name = uri.path.split("/").pop() ?? "";
  const message =
    `${name} is ${megabytes(size)}. VS Code does not pass files above 50 MB to extensions, so hovers, hints, outline and ` +
    "completion are missing. The commands of hlo-analyzer read the file from disk.";
  const actions = { "Heaviest Kernels": "hlo-analyzer.heaviestKernels", "Show Kernel": "hlo-analyzer.showKernel" };
  const choice = await vscode.window.showInformationMessage(message, ...(Object.keys(actions) as (keyof typeof actions)[]));
  if (choice !== undefined) {
    await vscode.commands.executeCommand(actions[choice]);
  }
}

/**
 * Offers to open files of this name as HLO from the start. A large file that VS Code opened as plain text
 * before it was recognised as HLO stays without colours, folds and lenses.
 */
export async function offerToReopen(document: vscode.TextDocument): Promise<void> {
  const size = await sizeOf(document.uri);
  if (size <= OPTIMISED) {
    return;
  }
  const name = document.uri.path.split("/").pop() ?? "";
  const message =
    `VS Code opened ${name} (${megabytes(size)}) as plain text, with its optimisations for large files: no colours, folds, ` +
    "lenses and hints.";
  const choice = await vscode.window.showInformationMessage(message, "Reopen as HLO");
  if (choice === undefined) {
    return;
  }
  const files = vscode.workspace.getConfiguration("files");
  const own = files.inspect<Record<string, string>>("associations");
  const isFolder = vscode.workspace.workspaceFolders !== undefined;
  const target = isFolder ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global;
  const before = (isFolder ? own?.workspaceValue : own?.globalValue) ?? {};
  await files.update("associations", { ...before, [name]: "hlo" }, target);
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  const isOfFile = ({ input }: vscode.Tab): boolean =>
    input instanceof vscode.TabInputText && input.uri.toString() === document.uri.toString();
  await vscode.window.tabGroups.close(tabs.filter(isOfFile));
  await vscode.commands.executeCommand("vscode.open", document.uri);
}

async function sizeOf(uri: vscode.Uri): Promise<number> {
  return uri.scheme === "file" ? stat(uri.fsPath).then(({ size }) => size, () => 0) : 0;
}

/** Returns the language by the file's name, or by its first bytes. */
async function languageOf(uri: vscode.Uri): Promise<"hlo" | "mlir" | undefined> {
  if (uri.path.endsWith(".mlir")) {
    return "mlir";
  }
  if (uri.path.endsWith(".hlo")) {
    return "hlo";
  }
  const file = await open(uri.fsPath).catch(() => undefined);
  if (file === undefined) {
    return undefined;
  }
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(64), position: 0 });
    return /^HloModule\b/.test(buffer.toString("utf8", 0, bytesRead)) ? "hlo" : undefined;
  } finally {
    await file.close();
  }
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / (1024 * 1024))} MB`;
}

// VS Code switches features off in large files. Above 20 MB (or 300,000 lines) a text has no colours, folds, lenses and hints,
// unless `editor.largeFileOptimizations` is off for its language when it is opened: the package does that for HLO and MLIR. Above
// 50 MB extensions do not get the text at all, whatever the settings say.

import { open, stat } from "node:fs/promises";
import * as vscode from "vscode";

/** From here on VS Code optimises, where nothing forbids it. */
const OPTIMISED = 20 * 1024 * 1024;
/** From this size on, VS Code does not pass a text to extensions. */
const NOT_SYNCED = 50 * 1024 * 1024;

export interface LargeFile {
  uri: vscode.Uri;
  languageId: "hlo" | "mlir";
  size: number;
}

/** The file in front, where it is HLO or MLIR and VS Code keeps it from extensions. */
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
 * A large file that turned out to be HLO after VS Code had opened it as plain text stays without colours, folds and lenses. Offers
 * to open files of this name as HLO from the start.
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

/** By its name, or by how it starts. */
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

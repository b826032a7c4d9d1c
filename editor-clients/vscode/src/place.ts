// The target of a command: the instruction given by a lens, the one at the cursor, or one that the user picks
// from a file that VS Code does not pass to extensions.

import * as vscode from "vscode";
import { largeFileInFront } from "./large-files";
import { KERNEL_SCHEME } from "./schemes";
import type { Server } from "./server";

export interface Position {
  line: number;
  character: number;
}

export interface Place {
  uri: string;
  position: Position;
}

export function isModule(document: vscode.TextDocument): boolean {
  const isOfLanguage = document.languageId === "hlo" || document.languageId === "mlir";
  return isOfLanguage && document.uri.scheme !== KERNEL_SCHEME;
}

/**
 * Returns the target of a command; if there is none, tells the user. A lens or an action passes `given` and
 * `at`; a menu passes only the file, as an object.
 */
export async function placeOf(server: Server, given?: unknown, at?: Position): Promise<Place | undefined> {
  const editor = editorOf(given);
  if (typeof given === "string") {
    const position = at ?? editor?.selection.active;
    return position && { uri: given, position: plain(position) };
  }
  if (editor && isModule(editor.document)) {
    return { uri: editor.document.uri.toString(), position: plain(editor.selection.active) };
  }
  if (editor?.document.uri.scheme === KERNEL_SCHEME) {
    return sourceOf(server, editor);
  }
  const large = await largeFileInFront();
  if (large === undefined) {
    void vscode.window.showInformationMessage("Open an HLO or MLIR file, and put the cursor on an instruction.");
    return undefined;
  }
  return (await readFromDisk(server, large)) ? pickKernel(server, large.uri) : undefined;
}

/** Like `placeOf`, for commands that apply to a whole file. */
export async function fileOf(server: Server, given?: unknown): Promise<vscode.Uri | undefined> {
  if (typeof given === "string") {
    return vscode.Uri.parse(given);
  }
  const editor = editorOf(given);
  if (editor && isModule(editor.document)) {
    return editor.document.uri;
  }
  const large = await largeFileInFront();
  if (large === undefined) {
    void vscode.window.showInformationMessage("Open an HLO or MLIR file first.");
    return undefined;
  }
  return (await readFromDisk(server, large)) ? large.uri : undefined;
}

/** Jumps to a place, also in files that VS Code does not pass to extensions. */
export async function goTo(uri: vscode.Uri, range: { start: Position; end: Position }, preserveFocus = false): Promise<void> {
  const selection = new vscode.Range(range.start.line, range.start.character, range.end.line, range.end.character);
  const shown = vscode.window.visibleTextEditors.find(({ document }) => document.uri.toString() === uri.toString());
  const options = { selection, preserveFocus, viewColumn: shown?.viewColumn };
  await vscode.commands.executeCommand("vscode.open", uri, options);
}

function editorOf(given: unknown): vscode.TextEditor | undefined {
  const name = given instanceof vscode.Uri ? given.toString() : given;
  const active = vscode.window.activeTextEditor;
  if (typeof name !== "string" || active?.document.uri.toString() === name) {
    return active;
  }
  return vscode.window.visibleTextEditors.find(({ document }) => document.uri.toString() === name);
}

/** Returns the instruction that a line of a kernel comes from. */
async function sourceOf(server: Server, kernel: vscode.TextEditor): Promise<Place | undefined> {
  interface Source {
    uri: string;
    at: { selectionRange: { start: Position } } | null;
  }
  const uri = kernel.document.uri.toString();
  const source = await server.ask<Source>("hlo-analyzer/kernelSource", { uri, line: kernel.selection.active.line });
  if (!source?.at) {
    void vscode.window.showInformationMessage("This line of the kernel comes from no instruction.");
    return undefined;
  }
  return { uri: source.uri, position: source.at.selectionRange.start };
}

async function readFromDisk(server: Server, file: { uri: vscode.Uri; languageId: string }): Promise<boolean> {
  await server.start();
  if (server.state.kind !== "running") {
    // The next request reports the reason.
    return true;
  }
  const title = `Reading ${file.uri.path.split("/").pop() ?? ""} from disk`;
  const location = vscode.ProgressLocation.Notification;
  const problem = await vscode.window.withProgress({ location, title }, () => server.disk.open(file.uri, file.languageId));
  if (problem !== undefined) {
    void vscode.window.showErrorMessage(`The file was not read: ${problem}`);
  }
  return problem === undefined;
}

async function pickKernel(server: Server, uri: vscode.Uri): Promise<Place | undefined> {
  interface Kernel {
    name: string;
    kind: string;
    total_us: number;
    at: { start: Position };
  }
  const params = { textDocument: { uri: uri.toString() }, limit: 5000 };
  const answer = await server.request<{ kernels: Kernel[] }>("hlo-analyzer/heaviestKernels", params);
  if (answer === undefined) {
    return undefined;
  }
  const items = (answer?.kernels ?? []).map(({ name, kind, total_us, at }) => ({
    label: `%${name}`,
    description: `${total_us.toFixed(2)} µs · ${kind}`,
    at: at.start,
  }));
  const placeHolder = "Extensions do not see the cursor in a file of this size: which kernel?";
  const picked = await vscode.window.showQuickPick(items, { placeHolder, matchOnDescription: true });
  return picked && { uri: uri.toString(), position: picked.at };
}

function plain({ line, character }: Position): Position {
  return { line, character };
}

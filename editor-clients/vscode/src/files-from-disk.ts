import { readFile, stat } from "node:fs/promises";
import * as vscode from "vscode";
import type { GuardedSync } from "./guarded-sync";

/** The largest file that fits into a JavaScript string. */
const MAX_BYTES = 500_000_000;

/** Files that VS Code does not send to extensions. They are read from disk when a command needs them. */
export class FilesFromDisk implements vscode.Disposable {
  /** The size and modification time of each file sent. */
  private readonly sent = new Map<string, string>();
  private readonly closed: vscode.Disposable;

  constructor(
    private readonly sync: GuardedSync,
    private readonly notify: (method: string, params: unknown) => Promise<void>,
  ) {
    this.closed = vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
      for (const { input } of closed) {
        if (input instanceof vscode.TabInputText) {
          void this.close(input.uri.toString());
        }
      }
    });
  }

  dispose(): void {
    this.closed.dispose();
  }

  /** Forgets all files, for a new server. */
  reset(): void {
    this.sent.clear();
  }

  /** Sends the current text on disk to the server. Returns the reason if that fails. */
  async open(uri: vscode.Uri, languageId: string): Promise<string | undefined> {
    const name = uri.toString();
    try {
      const { size, mtimeMs } = await stat(uri.fsPath);
      if (size > MAX_BYTES) {
        return `the file has ${Math.round(size / 1e6)} MB; at most ${MAX_BYTES / 1e6} MB are read`;
      }
      const state = `${size} ${mtimeMs}`;
      if (this.sent.get(name) === state && this.sync.isOpen(name)) {
        return undefined;
      }
      const text = await readFile(uri.fsPath, "utf8");
      await this.close(name);
      await this.sync.offer(name, () =>
        this.notify("textDocument/didOpen", { textDocument: { uri: name, languageId, version: 1, text } }),
      );
      this.sent.set(name, state);
      return undefined;
    } catch (error) {
      return String(error);
    }
  }

  private async close(uri: string): Promise<void> {
    if (this.sent.delete(uri) && this.sync.forget(uri)) {
      await this.notify("textDocument/didClose", { textDocument: { uri } });
    }
  }
}

// A module after passes of XLA's optimizer, beside its text or as a diff, which follows edits.

import * as vscode from "vscode";
import { SHOW_PREVIEW } from "./client-commands";
import { type Highlights, LiveDocuments, type Marks } from "./live-documents";
import { fileOf, type Position } from "./place";
import { PREVIEW_SCHEME } from "./schemes";
import type { Server } from "./server";

/** The response of `hlo-analyzer/showPreview`. */
interface ShownPreview {
  uri: string;
  /** The sides of a diff. */
  before: string;
  after: string;
  title: string;
  /** The pass at which it stopped. */
  stopped: string | null;
  problem: string | null;
}

/** An element of the response of `hlo-analyzer/passes`. */
interface Pass {
  name: string;
  kind: "pass" | "pipeline";
  sentence: string;
}

interface Range {
  start: Position;
  end: Position;
}

/** The response of `hlo-analyzer/previewSource`. */
interface Sources {
  uri: string;
  sources: { instruction: string; range: Range }[];
}

export function registerShowPreview(server: Server): vscode.Disposable & Highlights {
  return new PreviewView(server);
}

class PreviewView extends LiveDocuments {
  constructor(server: Server) {
    super(server, PREVIEW_SCHEME, "preview", "// the module of this preview is not open\n");
  }

  protected commands(): vscode.Disposable[] {
    return [
      vscode.commands.registerCommand("hlo-analyzer.showAsFused", (uri?: unknown) => this.show(uri, ["fusion-pipeline"])),
      vscode.commands.registerCommand(SHOW_PREVIEW, (uri?: unknown, passes?: string[]) => this.show(uri, passes)),
      vscode.commands.registerCommand("hlo-analyzer.comparePreview", (uri?: unknown, passes?: string[]) =>
        this.compare(uri, passes),
      ),
    ];
  }

  /** Shows the module after passes, which the user picks if none are given, beside its text. */
  private async show(given?: unknown, passes?: unknown): Promise<void> {
    const found = await this.ask(given, passes);
    if (found === undefined) {
      return;
    }
    const uri = vscode.Uri.parse(found.uri);
    const group = vscode.window.tabGroups.all.find(({ tabs }) => tabs.some(isPreviewTab));
    const viewColumn = group?.viewColumn ?? vscode.ViewColumn.Beside;
    await vscode.window.showTextDocument(uri, { viewColumn, preserveFocus: true, preview: false });
    // VS Code may have kept the text of an earlier showing.
    this.changed.fire(uri);
    this.refresh();
  }

  /** Shows what passes change as a diff, in which nothing else differs. */
  private async compare(given?: unknown, passes?: unknown): Promise<void> {
    const found = await this.ask(given, passes);
    if (found !== undefined) {
      const [before, after] = [vscode.Uri.parse(found.before), vscode.Uri.parse(found.after)];
      await vscode.commands.executeCommand("vscode.diff", before, after, `before ↔ ${found.title}`);
    }
  }

  private async ask(given?: unknown, passes?: unknown): Promise<ShownPreview | undefined> {
    const file = (await fileOf(this.server, given))?.toString();
    if (file === undefined) {
      return undefined;
    }
    const names = Array.isArray(passes) ? (passes as string[]) : await this.pick(file);
    if (names === undefined) {
      return undefined;
    }
    const found = await this.server.request<ShownPreview>("hlo-analyzer/showPreview", {
      textDocument: { uri: file },
      passes: names,
    });
    if (found === null) {
      void vscode.window.showInformationMessage("There is no module in this file.");
    } else if (typeof found?.problem === "string") {
      void vscode.window.showWarningMessage(`The preview is not up to date: ${found.problem}`);
    } else if (typeof found?.stopped === "string") {
      void vscode.window.showWarningMessage(`The preview stops at the pass ${found.stopped}; its first lines say why.`);
    }
    return found ?? undefined;
  }

  private async pick(file: string): Promise<string[] | undefined> {
    const passes = await this.server.request<Pass[]>("hlo-analyzer/passes", { textDocument: { uri: file } });
    if (!passes) {
      return undefined;
    }
    const items = (kind: Pass["kind"], title: string): vscode.QuickPickItem[] => [
      { label: title, kind: vscode.QuickPickItemKind.Separator },
      ...passes.filter((pass) => pass.kind === kind).map(({ name, sentence }) => ({ label: name, detail: sentence })),
    ];
    const picked = await vscode.window.showQuickPick([...items("pipeline", "Pipelines"), ...items("pass", "Passes")], {
      placeHolder: "Show the module after this pass or pipeline of XLA",
      matchOnDetail: true,
    });
    return picked && [picked.label];
  }

  protected async marksOf(editor: vscode.TextEditor, line: number): Promise<Marks> {
    const uri = editor.document.uri.toString();
    const found = await this.server.ask<Sources>("hlo-analyzer/previewSource", { uri, line });
    return {
      own: [editor.document.lineAt(Math.min(line, editor.document.lineCount - 1)).range],
      source: (found?.sources ?? []).map(({ range: { start, end } }) => range(start, end)),
    };
  }
}

function isPreviewTab({ input }: vscode.Tab): boolean {
  return input instanceof vscode.TabInputText && input.uri.scheme === PREVIEW_SCHEME;
}

function range(start: Position, end: Position): vscode.Range {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}

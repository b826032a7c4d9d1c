// A module after passes of XLA's optimizer, beside its text or as a diff, which follows edits.

import * as vscode from "vscode";
import { SHOW_PREVIEW } from "./client-commands";
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

interface Lines {
  first: number;
  last: number;
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

/** How long the cursor must rest before the other side follows, in milliseconds. */
const PAUSE = 60;

/** An interface for the tests of this extension. */
export interface PreviewHighlights {
  /** Returns the marked lines of a document as pairs of first and last line, from 0. */
  marked(uri: vscode.Uri): [number, number][];
}

export function registerShowPreview(server: Server): vscode.Disposable & PreviewHighlights {
  return new PreviewView(server);
}

class PreviewView implements vscode.Disposable, PreviewHighlights, vscode.TextDocumentContentProvider {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  /** The last text of each document, which stays when the module is closed. */
  private readonly texts = new Map<string, string>();
  private readonly marks = new Map<string, vscode.Range[]>();
  private readonly mark = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("editor.wordHighlightBackground"),
    borderStyle: "solid",
    borderWidth: "0 0 0 3px",
    borderColor: new vscode.ThemeColor("focusBorder"),
    overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.rangeHighlightForeground"),
    overviewRulerLane: vscode.OverviewRulerLane.Center,
  });
  private timer: NodeJS.Timeout | undefined;
  /** The number of the last cursor movement: responses for earlier ones are dropped. */
  private moves = 0;
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly server: Server) {
    this.subscriptions = [
      this.changed,
      this.mark,
      vscode.workspace.registerTextDocumentContentProvider(PREVIEW_SCHEME, this),
      vscode.commands.registerCommand("hlo-analyzer.showAsFused", (uri?: unknown) => this.show(uri, ["fusion-pipeline"])),
      vscode.commands.registerCommand(SHOW_PREVIEW, (uri?: unknown, passes?: string[]) => this.show(uri, passes)),
      vscode.commands.registerCommand("hlo-analyzer.comparePreview", (uri?: unknown, passes?: string[]) =>
        this.compare(uri, passes),
      ),
      server.onNotification<{ uri: string }>("hlo-analyzer/previewChanged", ({ uri }) =>
        this.changed.fire(vscode.Uri.parse(uri)),
      ),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.moved(textEditor)),
      vscode.window.onDidChangeVisibleTextEditors(() => this.refresh()),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document.uri.scheme === PREVIEW_SCHEME) {
          this.refresh();
        }
      }),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => {
        this.texts.delete(uri.toString());
        this.marks.delete(uri.toString());
      }),
    ];
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  marked(uri: vscode.Uri): [number, number][] {
    return (this.marks.get(uri.toString()) ?? []).map(({ start, end }) => [start.line, end.line]);
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const name = uri.toString();
    const content = await this.server.ask<{ text: string }>("hlo-analyzer/previewContent", { uri: name });
    if (content === undefined) {
      return this.texts.get(name) ?? "// the module of this preview is not open\n";
    }
    this.texts.set(name, content.text);
    return content.text;
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

  private moved(editor: vscode.TextEditor): void {
    const { languageId, uri } = editor.document;
    if (languageId === "hlo" || languageId === "mlir" || uri.scheme === PREVIEW_SCHEME) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.follow(editor), PAUSE);
    }
  }

  /** Follows the cursor again, in the editors that are now visible. */
  private refresh(): void {
    const active = vscode.window.activeTextEditor;
    const files = new Set(vscode.window.visibleTextEditors.filter(isPreview).map(({ document }) => sourceOf(document.uri)));
    const editors = vscode.window.visibleTextEditors.filter(({ document }) => files.has(document.uri.toString()));
    const from = active && (isPreview(active) || editors.includes(active)) ? active : editors[0];
    if (from) {
      this.moved(from);
    }
  }

  private async follow(editor: vscode.TextEditor): Promise<void> {
    const move = ++this.moves;
    const at = editor.selection.active;
    if (!isPreview(editor)) {
      await this.toPreviews(editor, at, move);
      return;
    }
    const uri = editor.document.uri.toString();
    const found = await this.server.ask<Sources>("hlo-analyzer/previewSource", { uri, line: at.line });
    if (move !== this.moves) {
      return;
    }
    this.set(editor, [editor.document.lineAt(Math.min(at.line, editor.document.lineCount - 1)).range]);
    const file = sourceOf(editor.document.uri);
    const ranges = (found?.sources ?? []).map(({ range: { start, end } }) => range(start, end));
    for (const other of vscode.window.visibleTextEditors.filter(({ document }) => document.uri.toString() === file)) {
      this.set(other, ranges);
      reveal(other, ranges[0]);
    }
  }

  private async toPreviews(editor: vscode.TextEditor, at: vscode.Position, move: number): Promise<void> {
    const file = editor.document.uri.toString();
    const previews = vscode.window.visibleTextEditors.filter(
      (other) => isPreview(other) && sourceOf(other.document.uri) === file,
    );
    if (previews.length > 0) {
      this.set(editor, []);
    }
    for (const preview of previews) {
      const answer = await this.server.ask<{ lines: Lines[] }>("hlo-analyzer/previewLines", {
        uri: preview.document.uri.toString(),
        position: { line: at.line, character: at.character },
      });
      if (move !== this.moves) {
        return;
      }
      const ranges = (answer?.lines ?? []).map(({ first, last }) => new vscode.Range(first, 0, last, 0));
      this.set(preview, ranges);
      reveal(preview, ranges[0]);
    }
  }

  private set(editor: vscode.TextEditor, ranges: vscode.Range[]): void {
    this.marks.set(editor.document.uri.toString(), ranges);
    editor.setDecorations(this.mark, ranges);
  }
}

function isPreview(editor: vscode.TextEditor): boolean {
  return editor.document.uri.scheme === PREVIEW_SCHEME;
}

function isPreviewTab({ input }: vscode.Tab): boolean {
  return input instanceof vscode.TabInputText && input.uri.scheme === PREVIEW_SCHEME;
}

/** Returns the file of which a document is a preview. */
function sourceOf(preview: vscode.Uri): string | undefined {
  try {
    const { file } = JSON.parse(preview.query) as { file?: unknown };
    // Normalised to this editor's spelling.
    return typeof file === "string" ? vscode.Uri.parse(file).toString() : undefined;
  } catch {
    return undefined;
  }
}

function range(start: Position, end: Position): vscode.Range {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}

function reveal(editor: vscode.TextEditor, range: vscode.Range | undefined): void {
  if (range) {
    editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }
}

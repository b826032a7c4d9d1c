import * as vscode from "vscode";
import { type MemoryAdvice, memoryPage, type MemoryTimeline, type PageContent, type PageMessage } from "./memory-page";
import { fileOf, goTo } from "./place";
import type { Server } from "./server";

/** More columns than a screen has, so that zooming in shows more. */
const COLUMNS = 4_000;
/** How long a module must stay as it is before the picture is drawn again, in milliseconds. */
const PAUSE = 500;

type NoPlan = { reason: string };

/** Draws the bytes in use over the schedule of a module, in one panel that is reused. */
export function registerShowMemory(server: Server, context: vscode.ExtensionContext): vscode.Disposable {
  const view = new MemoryView(server, vscode.Uri.joinPath(context.extensionUri, "dist", "memory-picture.js"));
  const command = vscode.commands.registerCommand("hlo-analyzer.showMemory", async (given?: unknown) => {
    const file = await fileOf(server, given);
    return file && view.show(file);
  });
  return vscode.Disposable.from(command, view);
}

class MemoryView implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private file: vscode.Uri | undefined;
  private timeline: MemoryTimeline | undefined;
  private advice: MemoryAdvice | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly edits: vscode.Disposable;

  constructor(
    private readonly server: Server,
    private readonly script: vscode.Uri,
  ) {
    this.edits = vscode.workspace.onDidChangeTextDocument(({ document }) => {
      if (this.panel && document.uri.toString() === this.file?.toString()) {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => void this.follow(), PAUSE);
      }
    });
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.edits.dispose();
    this.panel?.dispose();
  }

  /** Returns what the picture's caption says. */
  async show(file: vscode.Uri): Promise<string | undefined> {
    const answer = await this.server.request<MemoryTimeline | NoPlan>("hlo-analyzer/memoryTimeline", paramsOf(file));
    if (!answer) {
      return undefined;
    }
    if ("reason" in answer) {
      const name = file.path.split("/").pop() ?? "";
      void vscode.window.showInformationMessage(`There is no picture of the memory of ${name}: ${answer.reason}.`);
      return undefined;
    }
    if (this.file?.toString() !== file.toString()) {
      this.advice = undefined;
      this.send({ advice: [] });
    }
    this.file = file;
    const panel = this.opened();
    panel.title = `Memory of ${answer.module}`;
    panel.reveal(undefined, false);
    this.draw(file, answer);
    return answer.summary;
  }

  /** Draws the module as it now is. One with errors keeps its last picture. */
  private async follow(): Promise<void> {
    const { file } = this;
    const answer = file && (await this.server.ask<MemoryTimeline | NoPlan>("hlo-analyzer/memoryTimeline", paramsOf(file)));
    if (answer && !("reason" in answer) && file === this.file) {
      this.draw(file, answer);
    }
  }

  /** Draws a timeline, and lists what would help as soon as that is known. The last list stays until then. */
  private draw(file: vscode.Uri, timeline: MemoryTimeline): void {
    this.timeline = timeline;
    this.send({ timeline });
    void this.server.ask<MemoryAdvice | NoPlan>("hlo-analyzer/memoryAdvice", documentOf(file)).then((answer) => {
      if (answer && "advice" in answer && this.timeline === timeline) {
        this.advice = answer;
        this.send(answer);
      }
    });
  }

  private opened(): vscode.WebviewPanel {
    if (this.panel) {
      return this.panel;
    }
    const options = { enableScripts: true, retainContextWhenHidden: true };
    const panel = vscode.window.createWebviewPanel("hlo-analyzer.memory", "Memory", vscode.ViewColumn.Beside, options);
    panel.onDidDispose(() => (this.panel = undefined));
    panel.webview.onDidReceiveMessage((message: PageMessage) => this.received(message));
    panel.webview.html = memoryPage(panel.webview, panel.webview.asWebviewUri(this.script).toString());
    this.panel = panel;
    return panel;
  }

  private send(content: PageContent): void {
    void this.panel?.webview.postMessage(content);
  }

  private async received(message: PageMessage): Promise<void> {
    if (message.kind === "ready") {
      if (this.timeline) {
        this.send({ timeline: this.timeline });
      }
      if (this.advice) {
        this.send(this.advice);
      }
    } else if (message.kind === "go" && this.file) {
      await goTo(this.file, message.range);
    } else if (message.kind === "save") {
      await this.save();
    }
  }

  private async save(): Promise<void> {
    if (this.timeline === undefined || this.file === undefined) {
      return;
    }
    const { module, svg } = this.timeline;
    const defaultUri = vscode.Uri.joinPath(this.file, "..", `${module}-memory.svg`);
    const target = await vscode.window.showSaveDialog({ title: "Save the picture of the memory", defaultUri, filters: { SVG: ["svg"] } });
    if (target) {
      await vscode.workspace.fs.writeFile(target, Buffer.from(svg));
    }
  }
}

function paramsOf(file: vscode.Uri): { textDocument: { uri: string }; columns: number } {
  return { ...documentOf(file), columns: COLUMNS };
}

function documentOf(file: vscode.Uri): { textDocument: { uri: string } } {
  return { textDocument: { uri: file.toString() } };
}

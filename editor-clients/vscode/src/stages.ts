// From stage to stage of a compile: the diff of two, and the instruction at the cursor in another one.

import * as vscode from "vscode";
import type { Stage } from "./compiles";
import { goTo, placeOf, type Position } from "./place";
import type { Server } from "./server";

/** The URI scheme of stages whose text is prepared for a diff. */
const SCHEME = "hlo-analyzer-stage";

/** The response of `hlo-analyzer/compareStages`. */
interface Compared {
  title: string;
  before: { uri: string; text: string };
  after: { uri: string; text: string };
  /** Why the texts are those of the files; null if they were prepared. */
  problem: string | null;
}

/** The response of `hlo-analyzer/stepStage`. */
interface Step {
  uri: string;
  range: { start: Position; end: Position };
  title: string;
  /** What became of the instruction, if it is not simply there. */
  note: string | null;
}

/** The response of `hlo-analyzer/instructionStages`. */
interface History {
  instruction: string;
  stages: { uri: string; range: { start: Position; end: Position }; title: string; what: string }[];
}

export function registerStages(server: Server): vscode.Disposable {
  const texts = new Map<string, string>();
  return vscode.Disposable.from(
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
      provideTextDocumentContent: (uri) => texts.get(uri.toString()) ?? "",
    }),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => texts.delete(uri.toString())),
    vscode.commands.registerCommand("hlo-analyzer.compareWithPreviousPass", (given?: unknown) => compare(server, texts, given)),
    vscode.commands.registerCommand("hlo-analyzer.nextPass", () => step(server, "next")),
    vscode.commands.registerCommand("hlo-analyzer.previousPass", () => step(server, "previous")),
    vscode.commands.registerCommand("hlo-analyzer.instructionPasses", () => history(server)),
  );
}

/** Opens VS Code's diff editor on a stage and the one before it. `given` is an item of the view, or the file of a menu. */
async function compare(server: Server, texts: Map<string, string>, given?: unknown): Promise<void> {
  const uri = stageOf(given) ?? vscode.window.activeTextEditor?.document.uri.toString();
  if (uri === undefined) {
    void vscode.window.showInformationMessage("Open a stage of a compile first: a module in a folder that XLA dumped.");
    return;
  }
  const found = await server.request<Compared>("hlo-analyzer/compareStages", { textDocument: { uri } });
  if (found === undefined) {
    return;
  }
  if (found === null) {
    void vscode.window.showInformationMessage("There is no earlier stage: this file is the first of its compile, or in no dump folder.");
    return;
  }
  const [before, after] = await Promise.all([found.before, found.after].map((side) => document(texts, side)));
  if (before && after) {
    await vscode.commands.executeCommand("vscode.diff", before, after, found.title);
  }
  if (found.problem !== null) {
    void vscode.window.showWarningMessage(found.problem);
  }
}

async function document(texts: Map<string, string>, { uri, text }: { uri: string; text: string }): Promise<vscode.Uri> {
  const file = vscode.Uri.parse(uri);
  const name = vscode.Uri.from({ scheme: SCHEME, path: file.path, query: String(hash(text)) });
  texts.set(name.toString(), text);
  await vscode.languages.setTextDocumentLanguage(await vscode.workspace.openTextDocument(name), "hlo");
  return name;
}

/** Another text is another document, because the text of one stage depends on what it is compared with. */
function hash(text: string): number {
  let value = 0;
  for (let at = 0; at < text.length; at++) {
    value = (value * 31 + text.charCodeAt(at)) | 0;
  }
  return value >>> 0;
}

async function step(server: Server, to: "next" | "previous"): Promise<void> {
  const place = await placeOf(server);
  if (place === undefined) {
    return;
  }
  const params = { textDocument: { uri: place.uri }, position: place.position, to };
  const found = await server.request<Step>("hlo-analyzer/stepStage", params);
  if (found === undefined) {
    return;
  }
  if (found === null) {
    void vscode.window.showInformationMessage(`There is no ${to} pass: this file is the ${to === "next" ? "last" : "first"} of its compile, or in no dump folder.`);
    return;
  }
  await goTo(vscode.Uri.parse(found.uri), found.range);
  vscode.window.setStatusBarMessage(found.note === null ? found.title : `${found.title}: ${found.note}`, 8_000);
}

/** Lets the user pick among the passes that changed the instruction at the cursor. */
async function history(server: Server): Promise<void> {
  const place = await placeOf(server);
  if (place === undefined) {
    return;
  }
  const params = { textDocument: { uri: place.uri }, position: place.position };
  const found = await server.request<History>("hlo-analyzer/instructionStages", params);
  if (found === undefined) {
    return;
  }
  if (found === null) {
    void vscode.window.showInformationMessage("No instruction of a compile is at the cursor.");
    return;
  }
  const items = found.stages.map(({ title, what, uri, range }) => ({ label: title, description: what, uri, range }));
  const options = { title: `Passes that changed %${found.instruction}`, placeHolder: "Go to the stage after a pass", matchOnDescription: true };
  const picked = await vscode.window.showQuickPick(items, options);
  if (picked) {
    await goTo(vscode.Uri.parse(picked.uri), picked.range);
  }
}

function stageOf(given: unknown): string | undefined {
  if (given instanceof vscode.Uri) {
    return given.toString();
  }
  return (given as { stage?: Stage } | undefined)?.stage?.uri;
}

import * as vscode from "vscode";
import { EVALUATE } from "./client-commands";
import { placeOf } from "./place";
import type { Server } from "./server";

/** The URI scheme of documents that show values. */
const SCHEME = "hlo-analyzer-value";

interface Position {
  line: number;
  character: number;
}

/**
 * The values of an instruction's parameters: a literal for each, by number, or one of the server's fills for
 * all.
 */
type Values = string[] | Fill;

const FILLS = ["zeros", "random", "iota"] as const;
type Fill = (typeof FILLS)[number];

/** The storage key of the last choice. */
const LAST = "evaluate.values";

/** The response of `hlo-analyzer/evaluate`. */
interface Evaluated {
  instruction: string;
  text?: string;
  reason?: string;
  parameters: { number: number; name: string; shape: string; sample: string | null }[];
}

/**
 * Asks for the values of the parameters that an instruction depends on, and shows its value beside the HLO.
 */
export function registerEvaluateInstruction(server: Server, context: vscode.ExtensionContext): vscode.Disposable {
  const pages = new Map<string, string>();
  const changed = new vscode.EventEmitter<vscode.Uri>();
  const provider = vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
    onDidChange: changed.event,
    provideTextDocumentContent: (uri) => pages.get(uri.toString()) ?? "",
  });
  const closed = vscode.workspace.onDidCloseTextDocument(({ uri }) => pages.delete(uri.toString()));
  const command = vscode.commands.registerCommand(
    EVALUATE,
    async (uri?: unknown, at?: Position, given?: Values) => {
      const place = await placeOf(server, uri, at);
      if (place === undefined) {
        return undefined;
      }
      const { uri: document, position } = place;
      const ask = (values: Values) =>
        server.request<Evaluated>("hlo-analyzer/evaluate", {
          textDocument: { uri: document },
          position: { line: position.line, character: position.character },
          summary: true,
          ...(typeof values === "string" ? { fill: values } : { inputs: values }),
        });
      const first = await ask([]);
      if (first === undefined) {
        return undefined;
      }
      if (first === null) {
        void vscode.window.showInformationMessage("There is no instruction at this place.");
        return undefined;
      }
      const isConstant = first.parameters.length === 0;
      const values = given ?? (isConstant ? [] : await chosen(first, context.workspaceState));
      if (values === undefined) {
        return undefined;
      }
      const answer = isConstant ? first : await ask(values);
      if (answer === undefined) {
        return undefined;
      }
      if (answer?.text === undefined) {
        void vscode.window.showErrorMessage(`%${first.instruction}: ${answer?.reason ?? "it was not evaluated"}`);
        return undefined;
      }
      const shown = vscode.Uri.from({ scheme: SCHEME, path: `/${first.instruction}.txt`, query: document });
      pages.set(shown.toString(), answer.text);
      changed.fire(shown);
      await vscode.window.showTextDocument(shown, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true });
      return answer.text;
    },
  );
  return vscode.Disposable.from(provider, changed, closed, command);
}

/** Asks the user for the values, with the last choice first. `undefined` if the user cancels. */
async function chosen(asked: Evaluated, state: vscode.Memento): Promise<Values | undefined> {
  const items: (vscode.QuickPickItem & { fill?: Fill })[] = [
    { label: "Values written by hand", description: "a literal per parameter" },
    { label: "Zeros", fill: "zeros" },
    { label: "Random", description: "the same numbers each time", fill: "random" },
    { label: "Iota", description: "0, 1, 2, … in row-major order", fill: "iota" },
  ];
  const last = state.get<string>(LAST);
  const isLast = ({ label }: vscode.QuickPickItem): boolean => label === last;
  const ordered = [...items.filter(isLast), ...items.filter((item) => !isLast(item))];
  const names = asked.parameters.map(({ name, shape }) => `%${name}: ${shape}`).join(", ");
  const picked = await vscode.window.showQuickPick(ordered, {
    title: `Evaluate %${asked.instruction}`,
    placeHolder: `What the parameters hold: ${names}`,
  });
  if (picked === undefined) {
    return undefined;
  }
  void state.update(LAST, picked.label);
  return picked.fill ?? typed(asked);
}

/**
 * Asks the user for the parameters' literals, by number; blank where none is needed. `undefined` if the user
 * cancels.
 */
async function typed(asked: Evaluated): Promise<string[] | undefined> {
  const inputs: string[] = [];
  for (const { number, name, shape, sample } of asked.parameters) {
    const text = await vscode.window.showInputBox({
      title: `Evaluate %${asked.instruction}`,
      prompt: `%${name}: ${shape} (parameter ${number})`,
      value: sample ?? "",
      ignoreFocusOut: true,
    });
    if (text === undefined) {
      return undefined;
    }
    while (inputs.length < number) {
      inputs.push("");
    }
    inputs[number] = text;
  }
  return inputs;
}

import * as vscode from "vscode";
import { EVALUATE } from "./client-commands";
import { placeOf } from "./place";
import type { Server } from "./server";

/** Of documents that show values. */
const SCHEME = "hlo-analyzer-value";

interface Position {
  line: number;
  character: number;
}

/** The answer of `hlo-analyzer/evaluate`. */
interface Evaluated {
  instruction: string;
  outputs?: string[];
  reason?: string;
  parameters: { number: number; name: string; shape: string; sample: string | null }[];
}

/** Asks for the parameters that an instruction depends on, and shows its value beside the HLO. */
export function registerEvaluateInstruction(server: Server): vscode.Disposable {
  const values = new Map<string, string>();
  const changed = new vscode.EventEmitter<vscode.Uri>();
  const provider = vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
    onDidChange: changed.event,
    provideTextDocumentContent: (uri) => values.get(uri.toString()) ?? "",
  });
  const closed = vscode.workspace.onDidCloseTextDocument(({ uri }) => values.delete(uri.toString()));
  const command = vscode.commands.registerCommand(
    EVALUATE,
    async (uri?: unknown, at?: Position, given?: string[]) => {
      const place = await placeOf(server, uri, at);
      if (place === undefined) {
        return undefined;
      }
      const { uri: document, position } = place;
      const ask = (inputs: string[]) =>
        server.request<Evaluated>("hlo-analyzer/evaluate", {
          textDocument: { uri: document },
          position: { line: position.line, character: position.character },
          inputs,
        });
      const first = await ask([]);
      if (first === undefined) {
        return undefined;
      }
      if (first === null) {
        void vscode.window.showInformationMessage("There is no instruction at this place.");
        return undefined;
      }
      const inputs = given ?? (await typed(first));
      if (inputs === undefined) {
        return undefined;
      }
      const answer = inputs.length > 0 ? await ask(inputs) : first;
      if (answer === undefined) {
        return undefined;
      }
      if (answer?.outputs === undefined) {
        void vscode.window.showErrorMessage(`%${first.instruction}: ${answer?.reason ?? "it was not evaluated"}`);
        return undefined;
      }
      const shown = vscode.Uri.from({ scheme: SCHEME, path: `/${first.instruction}.txt`, query: document });
      values.set(shown.toString(), page(answer, inputs));
      changed.fire(shown);
      await vscode.window.showTextDocument(shown, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true });
      return answer.outputs;
    },
  );
  return vscode.Disposable.from(provider, changed, closed, command);
}

/** The literals of the parameters, by number; blank where one is not needed. Nothing where the user gives up. */
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

function page(answer: Evaluated, inputs: string[]): string {
  const given = answer.parameters.map(({ number, name }) => `%${name} = ${inputs[number] ?? ""}\n`);
  return `${given.join("")}%${answer.instruction} = ${(answer.outputs ?? []).join("\n")}\n`;
}

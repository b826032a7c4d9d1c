import type { ClientCapabilities, StaticFeature } from "vscode-languageclient/node";

/** The commands that the server would offer as its own, or that its code lenses and code actions refer to. */
export const SHOW_REFERENCES = "hlo-analyzer.showReferences";
export const SHOW_ACCESS_PATTERN = "hlo-analyzer.showAccessPattern";
export const SHOW_KERNEL = "hlo-analyzer.showKernel";
export const SHOW_PREVIEW = "hlo-analyzer.showPreview";
export const EVALUATE = "hlo-analyzer.evaluateInstruction";
export const COMPILE = "hlo-analyzer.compileWithXla";
export const DISABLE_WARNING = "hlo-analyzer.disableWarning";

/** The notification that the compiles of a dump folder have changed. */
export const COMPILES_CHANGED = "hlo-analyzer/compilesChanged";

/**
 * Has the server send diagnostics instead of waiting to be asked: they tell that a file was read without a crash, see
 * `guarded-sync.ts`.
 */
export const sentDiagnosticsFeature: StaticFeature = {
  fillClientCapabilities(capabilities: ClientCapabilities): void {
    delete capabilities.textDocument?.diagnostic;
  },
  initialize(): void {},
  getState: () => ({ kind: "static" }),
  clear(): void {},
};

/** Announces to the server that this client implements the commands and the notification. */
export const clientCommandsFeature: StaticFeature = {
  fillClientCapabilities(capabilities: ClientCapabilities): void {
    const commands = [SHOW_REFERENCES, SHOW_ACCESS_PATTERN, SHOW_KERNEL, SHOW_PREVIEW, EVALUATE, COMPILE, DISABLE_WARNING];
    capabilities.experimental = { ...(capabilities.experimental ?? {}), commands, notifications: [COMPILES_CHANGED] };
  },
  initialize(): void {},
  getState: () => ({ kind: "static" }),
  clear(): void {},
};

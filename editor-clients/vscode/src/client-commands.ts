import type { ClientCapabilities, StaticFeature } from "vscode-languageclient/node";

/** The commands that lenses and actions of the server name. */
export const SHOW_REFERENCES = "hlo-analyzer.showReferences";
export const SHOW_ACCESS_PATTERN = "hlo-analyzer.showAccessPattern";
export const SHOW_KERNEL = "hlo-analyzer.showKernel";
export const EVALUATE = "hlo-analyzer.evaluateInstruction";
export const DISABLE_WARNING = "hlo-analyzer.disableWarning";

/** Tells the server that this client has them. */
export const clientCommandsFeature: StaticFeature = {
  fillClientCapabilities(capabilities: ClientCapabilities): void {
    const commands = [SHOW_REFERENCES, SHOW_ACCESS_PATTERN, SHOW_KERNEL, EVALUATE, DISABLE_WARNING];
    capabilities.experimental = { ...(capabilities.experimental ?? {}), commands };
  },
  initialize(): void {},
  getState: () => ({ kind: "static" }),
  clear(): void {},
};

/** The URI scheme of documents that show kernels. The server chooses their URIs. */
export const KERNEL_SCHEME = "hlo-analyzer-kernel";
/** The URI scheme of documents that show a module after passes of XLA. The server chooses their URIs. */
export const PREVIEW_SCHEME = "hlo-analyzer-preview";

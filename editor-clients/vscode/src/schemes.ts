/** The URI scheme of documents that show kernels. The server chooses their URIs. */
export const KERNEL_SCHEME = "hlo-analyzer-kernel";

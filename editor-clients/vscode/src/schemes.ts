/** Of documents that show kernels; their names are the server's. */
export const KERNEL_SCHEME = "hlo-analyzer-kernel";

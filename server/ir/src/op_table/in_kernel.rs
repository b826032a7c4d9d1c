//! What XLA's GPU cost model counts for an op inside a kernel.
//!
//! Source: XLA `service/gpu/model/gpu_hlo_cost_analysis.cc`, `service/gpu/gpu_fusible.cc`.

/// The arithmetic of an op.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelFlops {
    /// Measured clock cycles for each element of the result.
    PerElement,
    /// Nothing in a loop over elements, a measured figure in a tile.
    Copy,
    /// A choice between the operands for each element.
    Concatenation,
    /// The called computation, once per element that goes away.
    Reduction,
    /// Its ops count, and not the call.
    Fusion,
    /// As outside of kernels; nothing in a tile.
    AsOutside,
}

/// What an op reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelTraffic {
    /// Reads each operand once and writes the result.
    Whole,
    Nothing,
    /// As much of operand 0 as the result has.
    ResultOfFirst,
    /// In place: the rest of operand 0 is not touched.
    DynamicUpdateSlice,
    Scatter,
    /// Each result reads the init values.
    Reduction,
    /// Each result reads a window.
    Window,
}

/// When an op needs so many registers per element that a thread should compute one element alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OneElementPerThread {
    Never,
    Always,
    /// With more than 8 elements in the window.
    LargeWindow,
    /// With more than 10 operands.
    ManyOperands,
    /// With a tuple as the result.
    ManyResults,
}

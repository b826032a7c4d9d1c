//! Kernels of modules given as text.

use gpu::{Device, Fused, FusionAnalysis};
use ir::{AttributeKey, Opcode, graphs_of_text};

/// A kernel as text.
#[allow(dead_code, reason = "not every test launches it")]
pub struct Written {
    pub ptx: String,
    /// The names of its missing ops.
    pub missing: Vec<String>,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// The kernels that run after it.
    pub then: Vec<Written>,
}

/// The PTX of a fusion.
#[allow(dead_code, reason = "some tests change the kernel before")]
pub fn written(hlo: &str, fusion: &str, device: &str) -> Result<Written, String> {
    written_of(hlo, fusion, device, &|kernel| kernel)
}

/// The kernel of a fusion, before printing.
pub struct Emitted {
    pub analysis: FusionAnalysis,
    pub kernel: codegen::Kernel,
}

/// Emits the kernel of a fusion.
pub fn emitted(hlo: &str, fusion: &str, device: &str) -> Result<Emitted, String> {
    let graphs = graphs_of_text(hlo);
    let callee = |name: &str| graphs.iter().find(|(n, _)| n == name).map(|(_, graph)| graph.clone());
    let found = graphs.iter().rev().find_map(|(_, g)| Some((g, g.find(fusion)?)));
    let (graph, id) = found.ok_or("no such instruction")?;
    let op = &graph.ops[id as usize];
    let mut computation = "fused".to_owned();
    let fused = match (op.opcode, op.attributes.computation(AttributeKey::Calls)) {
        (Opcode::Fusion, Some(called)) => {
            computation = called.to_owned();
            let called = callee(called).ok_or("no such computation")?;
            Fused::of_fusion(op, &called, &callee)
        }
        _ => Fused::wrapping(op, fusion),
    };
    let device = Device::find(device).map_err(|_| "no such device")?;
    let mut fused = fused.map_err(|r| r.to_string())?;
    let operands = &graph.operands[id as usize];
    let first = |own| operands.iter().position(|other| other == own).unwrap_or(0);
    fused.same_as = operands.iter().map(first).collect();
    let analysis = FusionAnalysis::new(fused, device).map_err(|r| r.to_string())?;
    let source =
        codegen::Source { name: fusion, computation: &computation, analysis: &analysis, callees: &callee };
    let kernel = codegen::emit(&source).map_err(|r| r.to_string())?;
    Ok(Emitted { analysis, kernel })
}

/// The PTX of the kernel of a fusion after `change`.
pub fn written_of(
    hlo: &str,
    fusion: &str,
    device: &str,
    change: &dyn Fn(codegen::Kernel) -> codegen::Kernel,
) -> Result<Written, String> {
    let Emitted { analysis, kernel } = emitted(hlo, fusion, device)?;
    let kernel = change(kernel);
    let device = analysis.device;
    let name_of = |op| analysis.fused.name(op).to_owned();
    let alone = |kernel: &codegen::Kernel| -> Result<Written, String> {
        let kernel = codegen::Kernel { then: Vec::new(), ..kernel.clone() };
        let ptx = codegen::ptx(&kernel, device, &name_of).map_err(|r| r.to_string())?;
        let sizes = |sizes: [i64; 3]| sizes.map(|size| u32::try_from(size).unwrap_or(u32::MAX));
        Ok(Written {
            ptx: ptx.text,
            missing: ptx.missing.into_iter().map(|m| m.reason).collect(),
            grid: sizes(kernel.launch.grid),
            block: sizes(kernel.launch.block),
            then: Vec::new(),
        })
    };
    let then = kernel.then.iter().map(alone).collect::<Result<_, _>>()?;
    Ok(Written { then, ..alone(&kernel)? })
}

//! The thunks of a compile: what its executable runs, and how it launches kernels.
//!
//! ```text
//! 001: kCustomKernel [source       | next=002 (1)] loop_add_fusion grid: [64, 1, 1] threads: [128, 1, 1]  shared_memory: 0 bytes
//! 004: kWhile        [prev=003 (1) | sink        ]
//! condition:
//!     005: kCustomKernel [source | sink] loop_and_fusion grid: [1, 1, 1] threads: [1, 1, 1]  shared_memory: 0 bytes
//! ```
//!
//! XLA writes the lines in `ThunkSequence::ToString`, and the names of the instructions into `thunk_metadata.txt`.

use std::ops::Range;

use rustc_hash::FxHashMap;

/// One step of an executable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thunk {
    pub id: u32,
    /// `kCustomKernel`, `kWhile`, …
    pub kind: String,
    /// The loop, conditional, command buffer, … that contains it: an index into the list of thunks.
    pub parent: Option<usize>,
    /// The kernel that it launches.
    pub kernel: Option<LaunchedKernel>,
    /// Its line in the text, without those of the thunks that it contains.
    pub range: Range<usize>,
}

/// A kernel as a thunk launches it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchedKernel {
    /// The name of its function in PTX. Instructions with equal code share a kernel.
    pub name: String,
    /// Blocks in x, y and z.
    pub grid: [u64; 3],
    /// Threads per block in x, y and z.
    pub block: [u64; 3],
    /// Blocks per cluster, if it is launched in clusters.
    pub cluster: Option<[u64; 3]>,
    /// Dynamic shared memory per block, in bytes, if the text says so.
    pub shared_bytes: Option<u64>,
}

/// What `thunk_metadata.txt` says about a thunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThunkOrigin {
    /// XLA gives thunks that it makes late, such as command buffers, no id, which reads as 0.
    pub id: u32,
    pub kind: String,
    /// The name of the instruction that it executes.
    pub instruction: String,
}

/// The thunks of a `thunk_sequence.txt`, in the order of its lines. Other lines are skipped. Takes time linear in the text.
pub fn thunks(text: &str) -> Vec<Thunk> {
    let mut thunks: Vec<Thunk> = Vec::new();
    // The thunks that may contain the next one, with their indentation.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        let mut indentation = line.len() - line.trim_start_matches(' ').len();
        let mut at = indentation;
        while let Some((id, kind, rest)) = head(&line[at..]) {
            while open.last().is_some_and(|&(_, outer)| outer >= indentation) {
                open.pop();
            }
            let description = rest.trim_start();
            let start = line.len() - description.len();
            // The first thunk of a sequence within a thunk has no line of its own.
            let end = if head(description).is_some() { start } else { line.trim_end().len().max(at) };
            thunks.push(Thunk {
                id,
                kind: kind.to_owned(),
                parent: open.last().map(|&(outer, _)| outer),
                kernel: launched(line[..end].get(start..).unwrap_or_default()),
                range: line_start + at..line_start + end,
            });
            open.push((thunks.len() - 1, indentation));
            indentation += 2;
            at = start;
        }
        line_start += line.len();
    }
    thunks
}

/// The id and the kind at the start of a line, and the description behind the brackets.
fn head(line: &str) -> Option<(u32, &str, &str)> {
    let (id, rest) = line.split_once(": ")?;
    let id = id.parse().ok()?;
    let (kind, rest) = rest.split_once([' ', '\n']).unwrap_or((rest, ""));
    if !kind.starts_with('k') || !kind.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    let rest = rest.trim_start_matches(' ');
    let description = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    Some((id, kind, description.map_or(rest, |(_, description)| description)))
}

/// `NAME grid: [1, 2, 3] threads: […] cluster: […] shared_memory: 0 bytes` of a custom kernel, and
/// `kernel=NAME, …, launch dimensions=blocks: {1, 2, 3}, threads/block: {…}, …` of other ones.
fn launched(description: &str) -> Option<LaunchedKernel> {
    let sizes = |label: &str| three(description.split_once(label)?.1);
    let of_kernel = || {
        let name = description.split_once("kernel")?.1.trim_start().strip_prefix('=')?.trim_start();
        Some((name, sizes("blocks:")?, sizes("threads/block:")?))
    };
    let of_custom = || Some((description, sizes(" grid:")?, sizes(" threads:")?));
    let (name, grid, block) = of_custom().or_else(of_kernel)?;
    let name = name.split([' ', ',']).next().filter(|name| !name.is_empty())?;
    let shared = description.split_once("shared_memory: ").and_then(|(_, rest)| rest.split_once(" bytes"));
    Some(LaunchedKernel {
        name: name.to_owned(),
        grid,
        block,
        cluster: sizes(" cluster:"),
        shared_bytes: shared.and_then(|(bytes, _)| bytes.parse().ok()),
    })
}

/// The numbers in the brackets or braces at the start.
fn three(text: &str) -> Option<[u64; 3]> {
    let list = text.trim_start().strip_prefix(['[', '{'])?.split([']', '}']).next()?;
    let mut sizes = list.split(',').map(|size| size.trim().parse().ok());
    let sizes = [sizes.next()??, sizes.next()??, sizes.next()??];
    Some(sizes)
}

/// The thunks of a `thunk_metadata.txt`, in its order. Takes time linear in the text.
pub fn thunk_origins(text: &str) -> Vec<ThunkOrigin> {
    let mut origins: Vec<ThunkOrigin> = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with("thunk_metadata ") || line.starts_with("thunk_metadata{") {
            origins.push(ThunkOrigin { id: 0, kind: String::new(), instruction: String::new() });
        }
        let Some((origin, (field, value))) = origins.last_mut().zip(line.split_once(": ")) else { continue };
        match field {
            "profile_annotation" => value.trim_matches('"').clone_into(&mut origin.instruction),
            "thunk_kind" => value.trim_matches('"').clone_into(&mut origin.kind),
            "thunk_id" => origin.id = value.parse().unwrap_or(0),
            _ => {}
        }
    }
    origins
}

/// The name of the function that XLA emits for an instruction, unless another function has that name already.
/// Source: `SanitizeFunctionName`, `service/llvm_ir/llvm_util.cc`.
pub fn function_name(instruction: &str) -> String {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let name: String = instruction.chars().map(|c| if is_allowed(c) { c } else { '_' }).collect();
    match name.as_bytes() {
        [] => "__unnamed".to_owned(),
        [b'_' | b'$'] => name + "_",
        [b'0'..=b'9', ..] => format!("_{name}"),
        _ => name,
    }
}

/// Per instruction, its thunks: indices into `thunks`, in order.
pub fn thunks_of_instructions<'a>(
    thunks: &[Thunk],
    origins: &'a [ThunkOrigin],
) -> FxHashMap<&'a str, Vec<usize>> {
    let mut by_id: FxHashMap<(u32, &str), Vec<usize>> = FxHashMap::default();
    for (index, thunk) in thunks.iter().enumerate() {
        by_id.entry((thunk.id, &thunk.kind)).or_default().push(index);
    }
    let mut found: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for ThunkOrigin { id, kind, instruction } in
        origins.iter().filter(|origin| !origin.instruction.is_empty())
    {
        let own = by_id.remove(&(*id, kind.as_str())).unwrap_or_default();
        found.entry(instruction).or_default().extend(own);
    }
    found.values_mut().for_each(|indices| indices.sort_unstable());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEQUENCE: &str = "\
000: kCommandBuffer [source | next=004 (1)]\x20
    001: kCustomKernel [source        | next=002 (1) ] loop_add_fusion_2 grid: [64, 2, 1] threads: [128, 1, 1]  shared_memory: 768 bytes
    002: kCustomKernel [prev=001 (1)  | sink         ] tma grid: [1, 1, 1] threads: [32, 1, 1] cluster: [2, 1, 1] shared_memory: 0 bytes
004: kWhile        [prev=003 (1) | sink        ]  \x20
condition:
    005: kKernel [source | sink] kernel=and, profile_annotation=and.1, launch dimensions=blocks: {1, 2, 3}, threads/block: {4, 5, 6}, cluster_dim=nullopt
  body:
    009: kSequential   [prev=006 (1) | next=010 (1)]   007: kCopy            [source       | next=008 (1)] kCopy
      008: kTriangularSolve [prev=007 (1) | sink        ] (no description)
    010: kAllReduce
note: this is no thunk
";

    #[test]
    fn thunks_have_their_launch_and_what_contains_them() {
        let thunks = thunks(SEQUENCE);
        let shown: Vec<(u32, &str, Option<u32>)> = (thunks.iter())
            .map(|thunk| (thunk.id, &*thunk.kind, thunk.parent.map(|parent| thunks[parent].id)))
            .collect();
        assert_eq!(
            shown,
            [
                (0, "kCommandBuffer", None),
                (1, "kCustomKernel", Some(0)),
                (2, "kCustomKernel", Some(0)),
                (4, "kWhile", None),
                (5, "kKernel", Some(4)),
                (9, "kSequential", Some(4)),
                (7, "kCopy", Some(9)),
                (8, "kTriangularSolve", Some(9)),
                (10, "kAllReduce", Some(4)),
            ]
        );
        let kernel = |index: usize| thunks[index].kernel.clone().expect("a launch");
        assert_eq!(
            kernel(1),
            LaunchedKernel {
                name: "loop_add_fusion_2".to_owned(),
                grid: [64, 2, 1],
                block: [128, 1, 1],
                cluster: None,
                shared_bytes: Some(768),
            }
        );
        assert_eq!(kernel(2).cluster, Some([2, 1, 1]));
        let LaunchedKernel { name, grid, block, cluster, shared_bytes } = kernel(4);
        assert_eq!((&*name, grid, block), ("and", [1, 2, 3], [4, 5, 6]));
        assert_eq!((cluster, shared_bytes), (None, None));
        assert!(thunks[3].kernel.is_none() && thunks[5].kernel.is_none());
        let text = |index: usize| &SEQUENCE[thunks[index].range.clone()];
        assert!(text(1).starts_with("001: kCustomKernel [") && text(1).ends_with(" 768 bytes"));
        assert!(text(5).starts_with("009: kSequential") && !text(5).contains("007"));
        assert!(text(6).starts_with("007: kCopy") && text(6).ends_with(" kCopy"));
    }

    #[test]
    fn cut_texts_give_the_thunks_that_are_whole_enough() {
        let whole = thunks(SEQUENCE);
        for cut in 0..SEQUENCE.len() {
            let cut = thunks(&SEQUENCE[..cut]);
            assert!(cut.len() <= whole.len());
            for (one, other) in cut.iter().zip(&whole).take(cut.len().saturating_sub(1)) {
                assert_eq!(one, other);
            }
        }
        assert!(thunks("No thunks.").is_empty() && thunks("").is_empty());
    }

    #[test]
    fn instructions_have_the_thunks_of_their_ids() {
        let metadata = "\
thunk_metadata {
  thunk_info {
    profile_annotation: \"command_buffer\"
  }
  thunk_kind: \"kCommandBuffer\"
}
thunk_metadata {
  thunk_info {
    profile_annotation: \"add.2\"
    thunk_id: 1
  }
  thunk_kind: \"kCustomKernel\"
}
thunk_metadata {
  thunk_info {
    profile_annotation: \"add.2\"
    thunk_id: 2
  }
  thunk_kind: \"kCustomKernel\"
}
thunk_metadata {
  thunk_info {
    profile_annotation: \"gone\"
    thunk_id: 77
  }
}
";
        let (thunks, origins) = (thunks(SEQUENCE), thunk_origins(metadata));
        assert_eq!(origins.len(), 4);
        let found = thunks_of_instructions(&thunks, &origins);
        assert_eq!(found["command_buffer"], [0]);
        assert_eq!(found["add.2"], [1, 2]);
        assert!(found["gone"].is_empty());
    }

    #[test]
    fn names_of_functions_are_those_of_ptx() {
        for (instruction, function) in
            [("fusion.3", "fusion_3"), ("a-b$c", "a_b$c"), ("1x", "_1x"), ("", "__unnamed"), ("_", "__")]
        {
            assert_eq!(function_name(instruction), function);
        }
    }
}

//! The kernel of a fusion before code generation: emitter, hero, launch, thread maps.

use gpu::{Emitter, FusionAnalysis, Launch};
use indexing_map::IndexingMap;

use crate::file_context::FileContext;
use crate::kernel::elsewhere::by_whom;

/// An instruction. Its kernel targets the host's device.
#[derive(Debug, Clone)]
pub struct FusionQuery {
    /// The name without `%`.
    pub instruction: String,
    /// Optional; without it the name is looked up in the entry first.
    pub computation: Option<String>,
}

#[derive(Debug, Clone)]
pub struct FusionReply {
    pub emitter: &'static str,
    pub hero: String,
    /// `None` if the launch is decided outside XLA's emitters and the text does not state it; then `note`
    /// explains.
    pub launch: Option<Launch>,
    /// Whether the shared-memory bytes in `launch` are what the kernel uses: unknown for kernels that XLA's
    /// emitters do not generate.
    pub is_shared_known: bool,
    /// For a sort: all launches in order; `launch` is the first.
    pub launches: Vec<Launch>,
    /// Per result of the fusion.
    pub thread_to_output: Vec<Option<IndexingMap>>,
    /// Per hero and operand of the hero.
    pub thread_to_input: Vec<(String, Vec<IndexingMap>)>,
    pub note: Option<String>,
}

/// The reason for a failed query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FusionError {
    /// The instruction does not exist, or has no shape.
    NotFound(String),
    /// No emitter handles it.
    NotEmitted(String),
}

/// Maps in the form of XLA's kernel loops: a packed transpose writes its vectors in a loop nested in its
/// outer loop, and the outer loop's variable is a dimension of the inner loop's map.
fn thread_to_output(analysis: &FusionAnalysis) -> Vec<Option<IndexingMap>> {
    let maps = analysis.thread_to_output();
    if !matches!(analysis.emitter, Emitter::PackedTranspose(_)) {
        return maps;
    }
    let nested = |map: IndexingMap| if map.num_ranges() == 3 { map.ranges_to_dims(&[0]) } else { map };
    maps.into_iter().map(|map| map.map(nested)).collect()
}

pub(crate) fn fusion_kernel(
    context: &FileContext<'_>,
    query: &FusionQuery,
) -> Result<FusionReply, FusionError> {
    let analysis = context.semantics().launched(context, query)?.analysis(context)?;
    let name = |id| analysis.fused.name(id).to_owned();
    let thread_to_input = analysis.thread_to_input();
    Ok(FusionReply {
        emitter: analysis.emitter.name(),
        hero: name(analysis.hero()),
        launch: analysis.stated_launch(),
        is_shared_known: by_whom(analysis).is_none(),
        launches: match &analysis.emitter {
            Emitter::Sort(sort) => sort.steps.iter().map(|step| step.launch).collect(),
            _ => analysis.stated_launch().into_iter().collect(),
        },
        thread_to_output: thread_to_output(analysis),
        thread_to_input: thread_to_input.into_iter().map(|(hero, maps)| (name(hero), maps)).collect(),
        note: by_whom(analysis).map(Into::into),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    const MODULE: &str = "HloModule m

%fused {
  p = bf16[64,66] parameter(0)
  t = bf16[66,64] transpose(p), dimensions={1,0}
  ROOT n = bf16[66,64] negate(t)
}

ENTRY %e {
  p = bf16[64,66] parameter(0)
  f = bf16[66,64] fusion(p), kind=kInput, calls=%fused
  g = bf16[66,64] fusion(p), kind=kCustom, calls=%fused, backend_config={\"fusion_backend_config\":{\"kind\":\"__triton\"}}
  c = bf16[66,64] add(f, g)
  ROOT t = (bf16[66,64]) tuple(c)
}
";

    fn ask(instruction: &str) -> Result<FusionReply, FusionError> {
        let (analysis, file, _) = fixture::open(MODULE);
        let computation = Some("e".to_owned());
        let query = FusionQuery { instruction: instruction.to_owned(), computation };
        analysis.fusion_kernel(file, &query).unwrap()
    }

    #[track_caller]
    fn check(instruction: &str, expect: (&str, &str, Option<[i64; 3]>)) -> FusionReply {
        let reply = ask(instruction).unwrap();
        let launch = reply.launch.map(|l| [l.grid[0], l.block[0], l.shared_bytes]);
        assert_eq!((reply.emitter, reply.hero.as_str(), launch), expect);
        reply
    }

    #[test]
    fn fusions_and_ops_alone() {
        let reply = check("f", ("transpose", "t", Some([2, 128, 8192])));
        // The loop over the vectors is nested in the outer loop.
        let written = reply.thread_to_output[0].as_ref().unwrap();
        assert_eq!((written.num_dims(), written.num_ranges()), (7, 2));
        check("c", ("loop", "c", Some([33, 128, 0])));
    }

    #[test]
    fn what_others_write() {
        let reply = check("g", ("triton", "t", None));
        assert!(reply.note.unwrap().starts_with("Triton writes"));
        assert!(reply.launches.is_empty());
    }

    #[test]
    fn errors() {
        assert!(matches!(ask("x"), Err(FusionError::NotFound(_))));
        let unknown = crate::AnalysisHost::new().set_device("h1").unwrap_err();
        assert!(unknown.contains("h100-sxm"), "{unknown}");
        assert!(matches!(ask("t"), Err(FusionError::NotEmitted(_))));
    }
}

//! Modules whose instructions are compared across features.

use hlo_analyzer_tests::corpus;
use ide::{Analysis, AnalysisHost, FileId, Language};
use serde_json::Value;
use test_files::gzip_text;
use test_files::needs::find_shared;

/// Known and unknown indices; ops of every family; fusions with one result and with several.
pub const MODULE: &str = "HloModule m

%sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

%several {
  p = f32[64,96] parameter(0)
  e = f32[64,96] exponential(p)
  n = f32[64,96] negate(e)
  t = f32[96,64] transpose(e), dimensions={1,0}
  ROOT r = (f32[64,96], f32[96,64], f32[64,96]) tuple(n, t, e)
}

%reduced {
  p = f32[64,96] parameter(0)
  z = f32[] constant(0)
  x = f32[64,96] multiply(p, p)
  r = f32[64] reduce(x, z), dimensions={1}, to_apply=%sum
  q = f32[64] sqrt(r)
  ROOT t = (f32[64], f32[64,96], f32[64]) tuple(q, x, r)
}

%looped {
  p = f32[64,96] parameter(0)
  c = f32[64,96] cosine(p)
  a = f32[64,96] add(c, p)
  m = f32[64,96] multiply(a, c)
  ROOT t = (f32[64,96], f32[64,96], f32[64,96]) tuple(a, m, c)
}

%moved {
  p = f32[64,96] parameter(0)
  i = s32[] parameter(1)
  k = s32[] constant(3)
  d = f32[8,96] dynamic-slice(p, i, k), dynamic_slice_sizes={8,96}
  ROOT t = f32[96,8] transpose(d), dimensions={1,0}
}

%spread {
  p = f32[64,96]{0,1} parameter(0)
  b = f32[64,96,4] broadcast(p), dimensions={0,1}
  ROOT t = f32[64,96,4] negate(b)
}

ENTRY %e {
  x = f32[64,96] parameter(0)
  i = s32[] parameter(1)
  y = f32[96,32] parameter(2)
  three = s32[] constant(3)
  six = s32[] add(three, three)
  seven = s32[] maximum(six, three)
  same = s32[] copy(seven)
  known = f32[8,16] dynamic-slice(x, three, six), dynamic_slice_sizes={8,16}
  chained = f32[8,16] dynamic-slice(x, same, seven), dynamic_slice_sizes={8,16}
  open = f32[8,16] dynamic-slice(x, i, six), dynamic_slice_sizes={8,16}
  put = f32[64,96] dynamic-update-slice(x, known, three, i)
  rows = s32[12] iota(), iota_dimension=0
  twice = s32[12] multiply(rows, rows)
  steps = s32[12] add(rows, rows)
  columns = s32[12,1] reshape(steps)
  taken = f32[12,96] gather(x, columns), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,96}
  squares = s32[12,1] reshape(twice)
  far = f32[12,96] gather(x, squares), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,96}
  d = f32[64,32] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  z = f32[] constant(0)
  r = f32[96] reduce(x, z), dimensions={0}, to_apply=%sum
  w = f32[64,95] reduce-window(x, z), window={size=1x2}, to_apply=%sum
  c = f32[128,96] concatenate(x, put), dimensions={0}
  v = f32[64,96] reverse(x), dimensions={1}
  pd = f32[70,96] pad(x, z), padding=1_5x0_0
  sl = f32[10,96] slice(x), slice={[2:12],[0:96]}
  rs = f32[96,64] reshape(x)
  so = f32[64,96] sort(x), dimensions={1}, to_apply=%sum
  f1 = (f32[64,96], f32[96,64], f32[64,96]) fusion(x), kind=kInput, calls=%several
  f2 = (f32[64], f32[64,96], f32[64]) fusion(x), kind=kInput, calls=%reduced
  f3 = (f32[64,96], f32[64,96], f32[64,96]) fusion(x), kind=kLoop, calls=%looped
  f4 = f32[96,8] fusion(x, six), kind=kLoop, calls=%moved
  f5 = f32[96,8] fusion(x, three), kind=kLoop, calls=%moved
  x2 = f32[64,96]{0,1} parameter(3)
  f6 = f32[64,96,4] fusion(x2), kind=kLoop, calls=%spread
  ROOT t = (f32[8,16]) tuple(known)
}
";

/// The module above, the project's own samples, and one in `step` of XLA's kernels, if available.
pub fn all(step: usize) -> Vec<(String, String)> {
    let mut found = vec![("own".to_owned(), MODULE.to_owned())];
    found.extend(corpus::own().into_iter().map(|module| (module.name, module.text)));
    for data in ["data", "data-random"] {
        let path = find_shared(&format!("conformance/{data}/xla_gpu_sweep/pairs.jsonl.gz"));
        let Some(text) = path.and_then(|path| gzip_text(&path)) else { continue };
        for line in text.lines().step_by(step) {
            let record: Value = serde_json::from_str(line).expect("a record");
            let field = |key: &str| record[key].as_str().unwrap_or_default().to_owned();
            found.push((field("kernel"), field("hlo")));
        }
    }
    found
}

pub fn open(text: &str) -> (Analysis, FileId) {
    let mut host = AnalysisHost::new();
    let file = host.open("x.hlo", Language::Hlo, text);
    (host.analysis(), file)
}

/// An instruction by its computation and name, without `%`, and the offset of the name.
pub struct Place {
    pub computation: String,
    pub name: String,
    pub at: usize,
    pub end: usize,
}

pub fn instructions(analysis: &Analysis, file: FileId) -> Vec<Place> {
    let (computations, _) = analysis.document_symbols(file, 100_000).expect("nobody cancels");
    let bare = |name: &str| name.trim_start_matches('%').to_owned();
    let of = |computation: ide::DocumentSymbol| {
        let name = bare(&computation.name);
        let places = computation.children.into_iter().filter(|c| c.kind != ide::SymbolKind::Note);
        places.map(move |child| Place {
            computation: name.clone(),
            name: bare(&child.name),
            at: child.selection_range.start,
            end: child.range.end,
        })
    };
    computations.into_iter().flat_map(of).collect()
}

//! Coalescing of a whole kernel, per array.

use indexing::SymbolicTile;
use indexing::{Rules, grouped, no_callees};
use ir::{OpId, Shape};

use super::accesses::{Buffer, MemoryAccess, element_bits};
use super::code_access::{Code, CodeAccess, CodeTraffic};
use super::counts::Counts;
use super::pattern::Pattern;
use super::traffic::{Traffic, traffic};
use super::{tiled_efficiency, xla_coalesced};
use crate::Reason;
use crate::cost::has_coalesced_reads;
use crate::emitters::Emitter;
use crate::fusion_analysis::FusionAnalysis;

/// The maximum number of combinations of block and iteration that are visited for one access.
const BUDGET: u64 = 4096;
/// The maximum for all instructions of a kernel's code together, and the minimum for each of them.
const CODE_BUDGET: u64 = 1 << 17;
const LEAST_BUDGET: u64 = 256;

/// A user is warned if more sectors are moved than this many times the ideal.
pub const DEFAULT_THRESHOLD: f64 = 2.0;

/// The traffic of one array in a kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct BufferTraffic {
    pub buffer: Buffer,
    /// XLA's verdict on reads; `None` for a result.
    pub xla_coalesced: Option<bool>,
    /// The elements that threads access, as maps. Their traffic counts if the code is not known.
    pub accesses: Vec<AccessTraffic>,
    /// The instructions of the code, from which all figures are computed. `None` if the code is not known.
    pub code: Option<Vec<CodeTraffic>>,
    /// Whether the code is predicted by Triton's rules, which no text shows.
    pub is_predicted: bool,
    /// Why the traffic is not known.
    pub unknown: Option<Reason>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AccessTraffic {
    pub access: MemoryAccess,
    /// `None` if the map is not known.
    pub traffic: Option<Traffic>,
}

impl BufferTraffic {
    /// The sum over all accesses in the best case, which is exact without runtime variables. `None` if one of
    /// them is not known.
    pub fn best(&self) -> Option<Counts> {
        self.sum(|traffic| traffic.best)
    }

    /// The same in the worst case.
    pub fn worst(&self) -> Option<Counts> {
        self.sum(|traffic| traffic.worst)
    }

    fn sum(&self, of: impl Fn(&Traffic) -> Counts) -> Option<Counts> {
        if self.unknown.is_some() {
            return None;
        }
        let mut all = self.traffic();
        all.try_fold(Counts::default(), |sum, traffic| Some(sum.plus(of(&traffic?))))
    }

    /// The traffic of each instruction of the code or, if the code is not known, of each map.
    pub fn traffic(&self) -> impl Iterator<Item = Option<Traffic>> + '_ {
        let of_code = self.code.iter().flatten().map(|c| Some(c.traffic));
        let of_maps = self.accesses.iter().filter(|_| self.code.is_none()).map(|a| a.traffic);
        of_code.chain(of_maps)
    }

    /// Whether it moves less than twice the ideal number of sectors, whatever the data. `None` if that is not
    /// known.
    pub fn is_coalesced(&self) -> Option<bool> {
        Some(self.judged()?.excess() < DEFAULT_THRESHOLD)
    }

    /// The counts that decide [`BufferTraffic::is_coalesced`]: the worst case if data decides where each lane
    /// reads, else the best.
    pub fn judged(&self) -> Option<Counts> {
        let (best, worst) = self.with_reuse()?;
        Some(if self.pattern() == Some(Pattern::Gathered) { worst } else { best })
    }

    /// Whether [`BufferTraffic::judged`] is the worst case and differs from the best, because data decides
    /// where a gather reads.
    pub fn is_judged_at_worst(&self) -> bool {
        self.with_reuse().is_some_and(|(best, worst)| best != worst)
            && self.pattern() == Some(Pattern::Gathered)
    }

    /// The best and the worst case, with instructions at neighbouring addresses as one request, because they
    /// share sectors in the cache.
    pub fn with_reuse(&self) -> Option<(Counts, Counts)> {
        let Some(code) = self.code.as_ref().filter(|_| self.unknown.is_none()) else {
            return self.best().zip(self.worst());
        };
        let sum = |of: &dyn Fn(&CodeTraffic) -> Counts| {
            code.iter().fold(Counts::default(), |sum, c| sum.plus(of(c)))
        };
        Some((sum(&|c| c.near.best), sum(&|c| c.near.worst)))
    }

    /// Whether the counts hold for all data: every request was counted or is proved to be like one that was,
    /// and no counts depend on runtime variables.
    pub fn is_exact(&self) -> bool {
        self.unknown.is_none() && self.traffic().all(|t| t.is_some_and(|t| t.is_exact && t.best == t.worst))
    }

    /// Whether some requests are extrapolated from others.
    pub fn is_sampled(&self) -> bool {
        self.traffic().any(|t| t.is_some_and(|t| !t.is_exact))
    }

    /// The pattern of the lanes in the most wasteful requests.
    pub fn pattern(&self) -> Option<Pattern> {
        let waste = |t: &Traffic| t.worst.sectors.saturating_sub(t.worst.ideal_sectors);
        let known: Vec<Traffic> = match &self.code {
            Some(code) => code.iter().map(|c| c.near).collect(),
            None => self.traffic().flatten().collect(),
        };
        known.into_iter().rev().max_by_key(waste).map(|traffic| traffic.pattern)
    }

    /// Whether it is known in which ways the kernel accesses the array, if not where.
    pub fn is_accessed(&self) -> bool {
        !self.accesses.is_empty()
            || self.is_predicted && self.code.as_ref().is_some_and(|code| !code.is_empty())
    }

    /// Whether bulk tensor copies (TMA) move the array, all or in part.
    pub fn is_bulk(&self) -> bool {
        self.code.iter().flatten().any(|code| code.access.is_bulk)
    }

    /// The bytes that a thread moves with one instruction of the code, each once, in increasing order.
    pub fn widths(&self) -> Vec<i64> {
        let mut widths: Vec<i64> = self.code.iter().flatten().map(|code| code.access.bytes).collect();
        widths.sort_unstable();
        widths.dedup();
        widths
    }

    /// The shape of the array in memory.
    pub fn shape<'a>(&'a self, analysis: &'a FusionAnalysis) -> Option<&'a Shape> {
        let own = self.worst_access().map(|access| &access.access.shape);
        own.or_else(|| Some(&analysis.fused.op(analysis.op_of(self.buffer)?).shape))
    }

    /// The most wasteful access.
    pub fn worst_access(&self) -> Option<&AccessTraffic> {
        let waste =
            |a: &&AccessTraffic| a.traffic.map_or(0, |t| t.best.sectors.saturating_sub(t.best.ideal_sectors));
        self.accesses.iter().rev().max_by_key(waste)
    }
}

impl FusionAnalysis {
    /// As [`FusionAnalysis::coalescing_of`], for a kernel whose code is not known.
    pub fn coalescing(&self) -> Vec<BufferTraffic> {
        self.coalescing_of(&|_| Err("its code is not known".into()))
    }

    /// The traffic of every operand that has one, then of every result. The traffic of kernels from other
    /// compilers is not known; XLA's verdict on them is that of its heuristic.
    pub fn coalescing_of(&self, code: &Code<'_>) -> Vec<BufferTraffic> {
        let mut unknown = match &self.emitter {
            Emitter::Elsewhere(elsewhere) => Some(elsewhere.reason()),
            Emitter::Sort(_) => Some("what a sort moves depends on its data".into()),
            _ => None,
        };
        let is_predicted = self.is_for_triton();
        let mut counted: Option<Vec<CodeTraffic>> = None;
        let mut no_code = None;
        if unknown.is_none() || is_predicted {
            match code(self) {
                Ok(code) => {
                    let budget = (CODE_BUDGET / code.len().max(1) as u64).clamp(LEAST_BUDGET, BUDGET);
                    counted = self.counted(code, budget);
                }
                Err(why) => {
                    unknown = unknown.map(|who| format!("{who}: {why}").into());
                    no_code = Some(why);
                }
            }
        }
        if counted.is_some() {
            unknown = None;
        }
        let mut buffers: Vec<BufferTraffic> = Vec::new();
        let operands = self.fused.graph.ops.iter().filter_map(|op| op.parameter).map(Buffer::Operand);
        let results = (0..self.fused.outputs.len()).map(Buffer::Result);
        for buffer in operands.chain(results) {
            let (accesses, unknown) = (Vec::new(), unknown.clone());
            let own = |c: &&CodeTraffic| c.access.buffer == buffer;
            let code = counted.as_ref().map(|code| code.iter().filter(own).cloned().collect());
            buffers.push(BufferTraffic {
                buffer,
                xla_coalesced: None,
                accesses,
                code,
                is_predicted,
                unknown,
            });
        }
        buffers.sort_by_key(|b| b.buffer);
        for access in self.memory_accesses() {
            let traffic = access.access(self).and_then(|access| traffic(&access, BUDGET));
            if let Some(of) = buffers.iter_mut().find(|b| b.buffer == access.buffer) {
                of.accesses.push(AccessTraffic { access, traffic });
            }
        }
        for buffer in &mut buffers {
            let undefined = buffer.accesses.iter().map(|a| &a.access.elements).find(|e| e.map.is_undefined());
            if let (None, Some(elements), Some(no_code)) = (&buffer.unknown, undefined, &no_code) {
                // The maps would count instead of the code.
                let of_map = elements.note.as_deref().map(|note| format!("{note}; "));
                buffer.unknown = Some(format!("{}{no_code}", of_map.unwrap_or_default()).into());
            }
        }
        let by_maps = !matches!(self.emitter, Emitter::Elsewhere(_) | Emitter::Sort(_));
        let mut heuristic = None;
        for buffer in &mut buffers {
            if matches!(buffer.buffer, Buffer::Operand(_)) {
                buffer.xla_coalesced = Some(match by_maps {
                    true => xla_verdict(buffer),
                    false => *heuristic.get_or_insert_with(|| has_coalesced_reads(&self.fused, self.kind)),
                });
            }
        }
        buffers
    }

    /// The traffic of a kernel's instructions. Those that move the same bytes of different arrays are counted once.
    fn counted(&self, code: Vec<CodeAccess>, budget: u64) -> Option<Vec<CodeTraffic>> {
        let mut counted: Vec<CodeTraffic> = Vec::with_capacity(code.len());
        for access in code {
            let known = counted.iter().find(|known| known.access.moves_as(&access));
            counted.push(match known {
                Some(&CodeTraffic { traffic, near, .. }) => CodeTraffic { access, traffic, near },
                None => access.traffic(self, budget)?,
            });
        }
        Some(counted)
    }

    /// For an operand of a kernel whose first result is computed in tiles of these sizes: the part of the
    /// bytes moved that a tile needs, in the worst case. `None` if the elements are not a tile.
    pub fn tiled_operand_efficiency(&self, operand: u32, tile_sizes: &[i64]) -> Option<f64> {
        let graph = &self.fused.graph;
        let at = graph.parameter(operand)?;
        let shape = graph.ops[at as usize].shape.as_array()?;
        let bytes = element_bits(&graph.ops[at as usize].shape)? / 8;
        let all: Vec<OpId> = (0..graph.ops.len() as OpId).collect();
        let maps = grouped(graph, *self.fused.roots.first()?, 0, &all, Rules::Xla, &no_callees);
        let rates = maps.of(at)?.iter().map(|access| {
            let tile = SymbolicTile::from_map(&access.map)?;
            // A size for each dimension of the result.
            let tile = tile.at(tile_sizes)?;
            let sizes: Vec<i64> = tile.sizes.into_iter().collect::<Option<_>>()?;
            let strides: Vec<i64> = tile.strides.into_iter().collect::<Option<_>>()?;
            let order = shape.minor_to_major();
            let transaction = self.device.dram_transaction_bytes();
            Some(tiled_efficiency(&shape.dims, &order, &sizes, &strides, bytes.max(1), transaction))
        });
        let rates: Option<Vec<f64>> = rates.collect();
        rates?.into_iter().reduce(f64::min)
    }
}

/// Whether XLA's rule accepts all maps. An array that no map leads to is accepted.
fn xla_verdict(buffer: &BufferTraffic) -> bool {
    let bytes = |a: &MemoryAccess| element_bits(&a.shape).map_or(1, |bits| (bits / 8).max(1));
    let of_hero = buffer.accesses.iter().map(|a| &a.access).filter(|a| a.is_of_hero);
    of_hero.into_iter().all(|a| a.shape.dims().is_empty() || xla_coalesced(&a.positions, bytes(a)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::fixture;

    /// Kernels of every emitter that has thread maps.
    const KERNELS: &[&str] = &[
        "\
p = f32[100,70]{0,1} parameter(0)
 q = bf16[100,70]{1,0} parameter(1)
 c = f32[100,70] convert(q)
         ROOT a = f32[100,70]{1,0} add(p, c)",
        "p = s8[40,50] parameter(0)\n ROOT t = s8[50,40] transpose(p), dimensions={1,0}",
        "\
p = f32[70,90] parameter(0)
 t = f32[90,70] transpose(p), dimensions={1,0}
 q = f32[90,70] parameter(1)
         ROOT a = f32[90,70] add(t, q)",
        "p = f32[3,5,64] parameter(0)\n ROOT t = f32[5,3,64] transpose(p), dimensions={1,0,2}",
        "p = f32[40,300] parameter(0)\n z = f32[] constant(0)
         ROOT r = f32[40] reduce(p, z), dimensions={1}, to_apply=add",
        "p = f16[100,33] parameter(0)\n z = f16[] constant(0)
         ROOT r = f16[33] reduce(p, z), dimensions={0}, to_apply=add",
        "p = f32[200,16] parameter(0)\n z = f32[] constant(0)
         ROOT r = f32[16] reduce(p, z), dimensions={0}, to_apply=add",
        "\
p = f32[20,3] parameter(0)
 q = f32[70,3] parameter(1)
 c = f32[90,3] concatenate(p, q), dimensions={0}
         ROOT n = f32[90,3] negate(c)",
        "\
p = f32[64,50] parameter(0)
 u = f32[8,50] parameter(1)
 i = s32[] constant(4)
 z = s32[] constant(0)
         ROOT d = f32[64,50] dynamic-update-slice(p, u, i, z)",
        "p = f32[1000] parameter(0)\n ROOT s = f32[125] slice(p), slice={[0:1000:8]}",
        "p = f64[30,7] parameter(0)\n b = f64[30,7,11] broadcast(p), dimensions={0,1}
         ROOT r = f64[30,77] reshape(b)",
        "p = u8[12,40] parameter(0)\n z = u8[] constant(0)\n ROOT q = u8[13,50] pad(p, z), padding=1_0x3_7",
        "p = c128[17,9] parameter(0)\n ROOT r = c128[17,9] reverse(p), dimensions={1}",
        "\
p = bf16[100,1] parameter(0)
 q = bf16[100,1] parameter(1)
 c = bf16[100,2] concatenate(p, q), dimensions={1}
         ROOT n = bf16[100,2] negate(c)",
    ];

    /// The counts equal those of collecting every byte of every lane of every warp in a set, request by
    /// request.
    #[test]
    fn kernels_are_counted_lane_by_lane() {
        for (text, device) in KERNELS.iter().flat_map(|text| [(text, "h100-sxm"), (text, "mi350")]) {
            let analysis = fixture::analysis(text, device).expect(text);
            let mut checked = 0;
            for buffer in analysis.coalescing() {
                for AccessTraffic { access, traffic } in &buffer.accesses {
                    let Some(traffic) = traffic else { continue };
                    assert!(traffic.is_exact, "{text}\n{}", access.positions);
                    assert!(access.positions.num_runtime() == 0 && traffic.best == traffic.worst);
                    let bits = element_bits(&access.shape).expect("bits");
                    assert_eq!(traffic.best, lane_by_lane(&analysis, access, bits, traffic.vector), "{text}");
                    checked += 1;
                }
            }
            assert!(checked >= 2, "{text}");
        }
    }

    fn lane_by_lane(analysis: &FusionAnalysis, access: &MemoryAccess, bits: i64, vector: i64) -> Counts {
        let (map, launch) = (&access.positions, analysis.launch().expect("a launch"));
        let width = analysis.device.threads_per_warp;
        let mut loops: Vec<Vec<i64>> = vec![Vec::new()];
        for (i, range) in map.ranges().iter().enumerate() {
            let is_vector = vector > 1 && i + 1 == map.num_ranges();
            let values: Vec<i64> =
                if is_vector { vec![0] } else { (range.bounds.lower..=range.bounds.upper).collect() };
            loops = loops.iter().flat_map(|l| values.iter().map(|v| [&l[..], &[*v]].concat())).collect();
        }
        let threads = launch.threads_per_block();
        let mut counts = Counts::default();
        let grid = launch.grid;
        let blocks =
            (0..grid[2]).flat_map(|z| (0..grid[1]).flat_map(move |y| (0..grid[0]).map(move |x| [x, y, z])));
        for block in blocks {
            for warp in 0..(threads + width - 1) / width {
                for turn in &loops {
                    let mut bytes = BTreeSet::new();
                    for thread in warp * width..threads.min((warp + 1) * width) {
                        let [x, y, _] = launch.block;
                        let ids = [thread % x, thread / x % y, thread / x / y];
                        let point: Vec<i64> =
                            ids.into_iter().chain(block).chain(turn.iter().copied()).collect();
                        if !map.contains(&point) {
                            continue;
                        }
                        let start = map.evaluate(&point).expect("inside")[0] * bits;
                        bytes.extend((start..start + vector * bits).map(|bit| bit.div_euclid(8)));
                    }
                    if bytes.is_empty() {
                        continue;
                    }
                    let pieces = |size: i64| {
                        bytes.iter().map(|b| b.div_euclid(size)).collect::<BTreeSet<_>>().len() as u64
                    };
                    let request = Counts {
                        requests: 1,
                        sectors: pieces(32),
                        lines: pieces(128),
                        ideal_sectors: (bytes.len() as u64).div_ceil(32),
                        bytes_used: bytes.len() as u64,
                    };
                    counts.add(request, 1);
                }
            }
        }
        counts
    }

    /// With a row per index, every element of the result is read from the table, one loop iteration after the
    /// other.
    #[test]
    fn rows_that_are_looked_up_are_read_whole() {
        for (rows, width) in [(8192, 768), (500, 64), (70, 33), (3, 4096)] {
            let text = format!(
                "p = f32[50304,{width}] parameter(0)\n i = s32[{rows},1] parameter(1)
                 ROOT g = f32[{rows},{width}] gather(p, i), offset_dims={{1}}, collapsed_slice_dims={{0}},
                 start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,{width}}}"
            );
            let analysis = fixture::analysis(&text, "h100-sxm").expect(&text);
            let buffers = analysis.coalescing();
            let table = &buffers[0];
            let (best, worst) = (table.best().expect("counts"), table.worst().expect("counts"));
            // Samples represent the others up to the last block, which may be partly empty.
            let elements = rows * width;
            let is_near = |bytes: u64| bytes.abs_diff(4 * elements) * 100 <= 4 * elements;
            assert!(is_near(worst.bytes_used), "{text}\n{worst:?}");
            assert!(best.requests >= elements / 128 && best.requests == worst.requests, "{text}\n{best:?}");
            if width % 128 == 0 {
                assert_eq!(best.bytes_moved(), 4 * elements, "{text}");
            }
        }
    }

    /// The same with a transpose: each iteration of a thread's loop reads a different row at the same offset.
    #[test]
    fn each_turn_that_looks_up_another_row_counts() {
        let text = "\
p = f32[50304,768] parameter(0)
 i = s32[8192,1] parameter(1)
            g = f32[8192,768] gather(p, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
            index_vector_dim=1, slice_sizes={1,768}
 ROOT t = f32[768,8192] transpose(g), dimensions={1,0}";
        let analysis = fixture::analysis(text, "h100-sxm").expect(text);
        assert_eq!(analysis.emitter.name(), "transpose");
        let counts = analysis.coalescing()[0].best().expect("counts");
        assert_eq!((counts.requests, counts.bytes_moved()), (8192 * 768 / 32, 8192 * 768 * 4));
    }

    /// Data decides which element of a row is read, so the best case is not exact.
    #[test]
    fn what_data_decides_is_not_exact() {
        let text = "p = f32[4096,5030] parameter(0)\n i = s32[4096,1] parameter(1)
            ROOT g = f32[4096] gather(p, i), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1},
            index_vector_dim=1, slice_sizes={1,1}, operand_batching_dims={0}, start_indices_batching_dims={0}";
        for layout in ["{1,0}", "{0,1}"] {
            let text = text.replace("5030] ", &format!("5030]{layout} "));
            let analysis = fixture::analysis(&text, "h100-sxm").expect(&text);
            let table = &analysis.coalescing()[0];
            // Row-major: each lane reads a different row, far from the others. Column-major: all lanes may
            // read one position, or as many as there are lanes.
            assert_eq!(table.is_exact(), layout == "{1,0}", "{text}");
            assert!(!table.is_sampled(), "{text}");
            let cause = analysis.cause(&table.accesses[0].access, DEFAULT_THRESHOLD);
            assert_eq!(analysis.remedy(table.buffer, cause, DEFAULT_THRESHOLD, &|_| Err("".into())), None);
            let indices = &analysis.coalescing()[1];
            assert!(indices.is_exact(), "{text}");
        }
    }

    /// Adjacent elements that a thread writes of each operand are one store.
    #[test]
    fn elements_of_a_concatenate_are_stored_together() {
        let check = |count: usize, element: &str, expect: (f64, i64)| {
            let names: Vec<String> = (0..count).map(|n| format!("p{n}")).collect();
            let mut text: String =
                (0..count).map(|n| format!("p{n} = {element}[65536,1] parameter({n})\n")).collect();
            text += &format!(
                "ROOT c = {element}[65536,{count}] concatenate({}), dimensions={{1}}",
                names.join(", ")
            );
            let analysis = fixture::analysis(&text, "h100-sxm").expect(&text);
            assert_eq!(analysis.emitter.name(), "concatenate");
            let buffers = analysis.coalescing();
            let written = buffers.last().expect("a result");
            let (counts, access) = (written.best().expect("counts"), &written.accesses[0]);
            assert!(written.is_exact());
            assert_eq!((counts.excess(), access.traffic.expect("counts").vector), expect, "{text}");
        };
        check(4, "bf16", (1.0, 4));
        check(2, "f32", (1.0, 2));
        check(4, "f32", (1.0, 4));
        // Three elements are not a vector, and four of 8 bytes are two stores.
        check(3, "f32", (3.0, 1));
        check(4, "f64", (2.0, 2));
    }

    /// Every byte of a result is written once, except that lanes of a concatenate leave some to other lanes.
    #[test]
    fn results_are_written_whole() {
        for text in KERNELS {
            let analysis = fixture::analysis(text, "h100-sxm").expect(text);
            if matches!(analysis.emitter, Emitter::DynamicUpdateSlice(_)) {
                continue;
            }
            for buffer in analysis.coalescing().iter().filter(|b| matches!(b.buffer, Buffer::Result(_))) {
                let bytes = buffer.accesses[0].access.shape.bytes().expect("a size");
                assert_eq!(buffer.best().expect(text).bytes_used, bytes, "{text}");
            }
        }
    }
}

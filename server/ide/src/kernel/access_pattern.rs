//! "Show access pattern": the addresses that the lanes of one warp access in an array, as a picture and as
//! text.

use gpu::{Buffer, BufferTraffic, CodeAccess, LanePicture, MemoryAccess, SECTOR_BYTES, Traffic};

use crate::TextRange;
use crate::file_context::FileContext;
use crate::hlo::instructions::instructions_in;
use crate::hlo::locate::InstructionRef;
use crate::kernel::coalescing_queries::buffer_name;
use crate::kernel::hover::memory;
use crate::kernel::launched::LaunchedKernel;
use crate::kernel::shown_kernel::kernel_around;
use crate::units::figure;

pub(crate) mod svg;
mod text;

/// Selects a request. Indices count from 0 and are clamped to the last valid one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccessPatternQuery {
    /// Index into [`AccessPattern::arrays`]. Default: the operand under the cursor, or the most wasteful
    /// array.
    pub array: Option<usize>,
    pub block: i64,
    pub warp: i64,
    pub iteration: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessPattern {
    /// For example `%y read by %f`.
    pub title: String,
    /// The figures of the whole kernel, in plain text.
    pub summary: String,
    /// The arrays that the kernel reads and writes: `%x`, `result`. An array accessed in several ways has
    /// several entries.
    pub arrays: Vec<String>,
    /// Index of the shown array in `arrays`.
    pub array: usize,
    pub blocks: i64,
    pub warps: i64,
    pub iterations: i64,
    /// The indices shown, after clamping.
    pub block: i64,
    pub warp: i64,
    pub iteration: i64,
    pub svg: String,
    pub text: String,
}

/// A sector with the lanes that access it.
struct Sector {
    number: i64,
    /// Lane, and the range of bytes that it accesses in the sector.
    lanes: Vec<(usize, i64, i64)>,
}

/// The instruction that launches the kernel that contains `at`.
fn launch_around(context: &FileContext<'_>, at: InstructionRef) -> Option<InstructionRef> {
    kernel_around(context, at).filter(|&around| context.is_launched(around))
}

/// A kernel, and what the cursor selects of its accesses.
pub(crate) struct Accessing<'a> {
    kernel: LaunchedKernel<'a>,
    /// The number of the operand under the cursor.
    operand: Option<usize>,
    /// The instruction of the fused computation under the cursor.
    fused: Option<InstructionRef>,
}

impl<'a> From<LaunchedKernel<'a>> for Accessing<'a> {
    fn from(kernel: LaunchedKernel<'a>) -> Accessing<'a> {
        Accessing { kernel, operand: None, fused: None }
    }
}

/// The kernel that an HLO instruction launches or is fused into.
pub(crate) fn accessing_at<'a>(context: &FileContext<'a>, offset: usize) -> Option<Accessing<'a>> {
    let at = context.instruction_at(offset)?;
    let launch = launch_around(context, at)?;
    let operand = if launch == at { operand_at(context, at, offset) } else { None };
    let kernel = LaunchedKernel::of(context, launch)?;
    Some(Accessing { kernel, operand, fused: (launch != at).then_some(at) })
}

/// The first kernel that HLO instructions in `range` launch or are fused into.
pub(crate) fn launched_in<'a>(context: &FileContext<'a>, range: &TextRange) -> Option<LaunchedKernel<'a>> {
    let mut here = instructions_in(context, range, 1).into_iter();
    LaunchedKernel::of(context, here.find_map(|at| launch_around(context, at))?)
}

/// An entry of [`AccessPattern::arrays`].
#[derive(Clone, Copy)]
struct Choice<'a> {
    buffer: &'a BufferTraffic,
    /// Index and count of the array's accesses.
    nth: (usize, usize),
    traffic: Traffic,
    drawn: Drawn<'a>,
}

/// The source of the picture: an instruction of the code, or a map if the code is unknown.
#[derive(Clone, Copy)]
enum Drawn<'a> {
    Code(&'a CodeAccess),
    Map(&'a MemoryAccess),
}

/// The picture of the kernel that is launched at `offset`, or whose fused computation contains it. `None`
/// without a kernel or without a known map.
pub(crate) fn access_pattern(
    context: &FileContext<'_>,
    offset: usize,
    query: &AccessPatternQuery,
) -> Option<AccessPattern> {
    let Accessing { kernel, operand: under_cursor, fused } =
        context.semantics().accessing_at(context, offset)?;
    let analysis = kernel.analysis(context).ok()?;
    let buffers = context.kernel_coalescing(kernel.id);
    let mut choices: Vec<Choice<'_>> = Vec::new();
    for buffer in buffers.iter() {
        match &buffer.code {
            Some(code) => choices.extend(code.iter().enumerate().map(|(nth, access)| Choice {
                buffer,
                nth: (nth, code.len()),
                traffic: access.traffic,
                drawn: Drawn::Code(&access.access),
            })),
            None => {
                let of = buffer.accesses.len();
                let known = buffer.accesses.iter().enumerate().filter_map(|(nth, access)| {
                    let drawn = Drawn::Map(&access.access);
                    Some(Choice { buffer, nth: (nth, of), traffic: access.traffic?, drawn })
                });
                choices.extend(known);
            }
        }
    }
    let under_cursor = || {
        let number = under_cursor? as u32;
        choices.iter().position(|choice| choice.buffer.buffer == Buffer::Operand(number))
    };
    // Inside the fused computation: the array whose access pattern this instruction makes uncoalesced.
    let caused_here = || {
        let name = context.block(fused?.piece).name(fused?.id);
        let waste = context.kernel_waste(kernel.id, 1.0);
        let here = waste.iter().find(|waste| analysis.fused.name(waste.cause.op()) == name)?;
        let buffer = buffers.get(here.buffer)?.buffer;
        choices.iter().position(|choice| choice.buffer.buffer == buffer)
    };
    let most_wasted = || {
        let waste = |i: &usize| {
            let worst = choices[*i].traffic.worst;
            worst.sectors.saturating_sub(worst.ideal_sectors)
        };
        (0..choices.len()).rev().max_by_key(waste)
    };
    let array = query
        .array
        .filter(|&a| a < choices.len())
        .or_else(under_cursor)
        .or_else(caused_here)
        .or_else(most_wasted)?;
    let name = |&Choice { buffer, nth: (nth, of), .. }: &Choice<'_>| {
        let name = format!("%{}", buffer_name(&kernel.operands, analysis, buffer.buffer));
        let name = if matches!(buffer.buffer, Buffer::Result(_)) { format!("result {name}") } else { name };
        if of > 1 { format!("{name} ({} of {of})", nth + 1) } else { name }
    };
    let arrays: Vec<String> = choices.iter().map(name).collect();
    let Choice { buffer, drawn, .. } = choices[array];
    let picture = match drawn {
        Drawn::Code(access) => access.picture(analysis, query.block, query.warp, query.iteration)?,
        Drawn::Map(access) => {
            LanePicture::of(&access.access(analysis)?, query.block, query.warp, query.iteration)?
        }
    };
    let sizes = picture.sizes;
    let verb = if matches!(buffer.buffer, Buffer::Operand(_)) { "read" } else { "written" };
    let title = format!("{} {verb} by %{}", arrays[array], kernel.name);
    let sectors = sectors(&picture);
    let caption = format!(
        "block {} of {}, warp {} of {}, iteration {} of {}: {} sectors, {} would do",
        query.block.clamp(0, sizes.blocks - 1) + 1,
        sizes.blocks,
        query.warp.clamp(0, sizes.warps - 1) + 1,
        sizes.warps,
        query.iteration.clamp(0, sizes.iterations - 1) + 1,
        sizes.iterations,
        figure(picture.counts.sectors as f64),
        figure(picture.counts.ideal_sectors as f64),
    );
    Some(AccessPattern {
        // Plain names, because pictures and comments do not render Markdown.
        summary: memory(&kernel.operands, analysis, buffer).plain_text(),
        svg: svg::svg(&title, &caption, &picture, &sectors),
        text: text::text(&title, &caption, &picture, &sectors),
        title,
        arrays,
        array,
        blocks: sizes.blocks,
        warps: sizes.warps,
        iterations: sizes.iterations,
        block: query.block.clamp(0, sizes.blocks - 1),
        warp: query.warp.clamp(0, sizes.warps - 1),
        iteration: query.iteration.clamp(0, sizes.iterations - 1),
    })
}

fn operand_at(context: &FileContext<'_>, at: InstructionRef, offset: usize) -> Option<usize> {
    let mut operands = context.block(at.piece).operands_of(at.id);
    operands.position(|(operand, _)| {
        let range = context.range(at.piece, operand.name);
        range.start <= offset && offset <= range.end
    })
}

/// Sectors by address.
fn sectors(picture: &LanePicture) -> Vec<Sector> {
    let size = SECTOR_BYTES as i64;
    let mut sectors: std::collections::BTreeMap<i64, Vec<(usize, i64, i64)>> = Default::default();
    for (lane, bytes) in picture.lanes.iter().enumerate() {
        let Some((first, end)) = *bytes else { continue };
        for number in first.div_euclid(size)..=(end - 1).div_euclid(size) {
            let start = number * size;
            let part = (lane, (first - start).max(0), (end - start).min(size));
            sectors.entry(number).or_default().push(part);
        }
    }
    sectors.into_iter().map(|(number, lanes)| Sector { number, lanes }).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::fixture::open;

    const TEXT: &str = "HloModule m

fused {
  p = f32[64,64]{1,0} parameter(0)
  q = f32[64,64]{0,1} parameter(1)
  ROOT a = f32[64,64]{1,0} add(p, q)
}

ENTRY e {
  x = f32[64,64]{1,0} parameter(0)
  y = f32[64,64]{0,1} parameter(1)
  ROOT $0f = f32[64,64]{1,0} fusion(x, y), kind=kLoop, calls=fused
}
";

    fn ask(query: &AccessPatternQuery) -> AccessPattern {
        let (analysis, file, offset) = open(TEXT);
        analysis.access_pattern(file, offset, query).expect("nobody cancels").expect("a kernel")
    }

    fn check(query: &AccessPatternQuery, expect: Expect) {
        expect.assert_eq(&ask(query).text);
    }

    #[test]
    fn the_worst_array_comes_first() {
        let pattern = ask(&AccessPatternQuery::default());
        assert_eq!((pattern.title.as_str(), pattern.array), ("%y read by %f", 1));
        assert_eq!(pattern.arrays, ["%x", "%y", "result %a"]);
        assert_eq!((pattern.blocks, pattern.warps, pattern.iterations), (32, 4, 1));
        assert_eq!(pattern.svg.matches("<title>lane ").count(), 32);
        assert!(pattern.svg.starts_with("<svg") && pattern.svg.ends_with("</svg>\n"));
        for lane in 0..32 {
            assert!(
                pattern.svg.contains(&format!(">{lane}</text>")),
                "no number of lane {lane}: {}",
                pattern.svg
            );
        }
        assert!(!format!("{}{}{}", pattern.svg, pattern.text, pattern.summary).contains('`'));
    }

    #[test]
    fn numbers_beyond_the_last_mean_the_last() {
        let far = AccessPatternQuery { array: Some(0), block: 1 << 40, warp: 99, iteration: 7 };
        let pattern = ask(&far);
        assert_eq!((pattern.block, pattern.warp, pattern.iteration), (31, 3, 0));
    }

    #[test]
    fn lanes_stand_in_their_sectors() {
        check(
            &AccessPatternQuery { array: Some(0), ..Default::default() },
            expect![[r#"
            %x read by %f
            block 1 of 32, warp 1 of 4, iteration 1 of 1: 4 sectors, 4 would do
            bl = (0, 0, 0)
                      0 00001111222233334444555566667777 lanes 0-7
                     32 88889999aaaabbbbccccddddeeeeffff lanes 8-15
                     64 gggghhhhiiiijjjjkkkkllllmmmmnnnn lanes 16-23
                     96 ooooppppqqqqrrrrssssttttuuuuvvvv lanes 24-31
        "#]],
        );
    }
}

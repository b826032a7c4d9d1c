//! What the reads and writes of random fusions move, by maps and by code.

use expect_test::expect;
use gpu::{
    Buffer, BufferTraffic, CodeAccess, CodeAccessKind, Counts, DEFAULT_THRESHOLD, FusionAnalysis, LanePicture,
};
use ir::ElementTypeExt as _;
use test_files::Tally;

use crate::kernels::{each, without_numbers};

fn add_counts(tally: &mut Tally, name: &str, counts: Option<Counts>) {
    let Some(counts) = counts else { return tally.add(format!("{name}: none"), 1) };
    tally.add(format!("{name}: requests"), counts.requests as usize);
    tally.add(format!("{name}: sectors"), counts.sectors as usize);
    tally.add(format!("{name}: lines"), counts.lines as usize);
    tally.add(format!("{name}: ideal sectors"), counts.ideal_sectors as usize);
    tally.add(format!("{name}: bytes used"), counts.bytes_used as usize);
}

fn add_buffer(tally: &mut Tally, buffer: &BufferTraffic) {
    tally.add("buffers", 1);
    if let Some(unknown) = &buffer.unknown {
        tally.add(format!("unknown: {}", without_numbers(unknown)), 1);
    }
    if let Some(is_coalesced) = buffer.xla_coalesced {
        tally.add(format!("coalesced for XLA: {is_coalesced}"), 1);
    }
    tally.add(format!("coalesced: {:?}", buffer.is_coalesced()), 1);
    if let Some(pattern) = buffer.pattern() {
        tally.add(without_numbers(&format!("pattern {pattern:?}")), 1);
    }
    tally.add("exact", usize::from(buffer.is_exact()));
    tally.add("sampled", usize::from(buffer.is_sampled()));
    tally.add("accessed", usize::from(buffer.is_accessed()));
    tally.add("judged at worst", usize::from(buffer.is_judged_at_worst()));
    tally.add("widths", buffer.widths().iter().sum::<i64>() as usize);
    add_counts(tally, "best", buffer.best());
    add_counts(tally, "worst", buffer.worst());
    add_counts(tally, "judged", buffer.judged());
    add_counts(tally, "reused", buffer.with_reuse().map(|(counts, _)| counts));
}

fn add_picture(tally: &mut Tally, picture: Option<LanePicture>) {
    let Some(picture) = picture else { return tally.add("no pictures", 1) };
    tally.add("pictures", 1);
    tally.add("lanes", picture.lanes.iter().flatten().count());
    let ends = picture.lanes.iter().flatten().map(|&(first, end)| first.unsigned_abs() + end.unsigned_abs());
    tally.add("first and last bytes", ends.sum::<u64>() as usize);
    tally.add("sectors of pictures", picture.counts.sectors as usize);
    tally.add("blocks", picture.sizes.blocks as usize);
    tally.add("warps", picture.sizes.warps as usize);
    tally.add("iterations", picture.sizes.iterations.min(1 << 40) as usize);
}

#[test]
fn by_maps_with_causes_and_remedies() {
    let (mut tally, mut pictures) = (Tally::default(), Tally::default());
    let no_code = |_: &FusionAnalysis| Err("none".into());
    each(|_, _, analysis| {
        let Ok(analysis) = analysis else { return };
        for access in analysis.memory_accesses() {
            for (block, warp, iteration) in [(0, 0, 0), (1, 2, 3)] {
                let of = access.access(&analysis);
                add_picture(&mut pictures, of.and_then(|of| LanePicture::of(&of, block, warp, iteration)));
            }
        }
        for buffer in analysis.coalescing() {
            add_buffer(&mut tally, &buffer);
            let Some(cause) = analysis.cause_of(&buffer, DEFAULT_THRESHOLD) else { continue };
            tally.add(format!("cause {}", without_numbers(&format!("{cause:?}"))), 1);
            if buffer.judged().is_none_or(|counts| counts.excess() < DEFAULT_THRESHOLD) {
                continue;
            }
            let remedy = analysis.remedy(buffer.buffer, cause, DEFAULT_THRESHOLD, &no_code);
            let change = format!("remedy {:?}", remedy.as_ref().map(|remedy| &remedy.change));
            tally.add(without_numbers(&change), 1);
            tally.add("sectors after remedies", remedy.map_or(0, |remedy| remedy.counts.sectors as usize));
        }
    });
    tally.check(expect![[r#"
        accessed: 1744
        best: bytes used: 1125532343
        best: ideal sectors: 39932671
        best: lines: 24312745
        best: none: 556
        best: requests: 12351691
        best: sectors: 53510131
        buffers: 2125
        cause Layout(): 587
        cause Op(): 1157
        cause Tiles(): 365
        coalesced for XLA: false: 211
        coalesced for XLA: true: 1208
        coalesced: None: 556
        coalesced: Some(false): 102
        coalesced: Some(true): 1467
        exact: 1443
        judged at worst: 29
        judged: bytes used: 1125562373
        judged: ideal sectors: 39933409
        judged: lines: 24316766
        judged: none: 556
        judged: requests: 12351691
        judged: sectors: 53514419
        pattern Broadcast: 22
        pattern Contiguous: 1066
        pattern Gathered: 41
        pattern Irregular: 25
        pattern Runs { lanes: , step:  }: 40
        pattern Strided(): 63
        pattern Uniform: 325
        remedy None: 62
        remedy Some(Layout([, , ])): 20
        remedy Some(Layout([, ])): 19
        remedy Some(TransposeBefore()): 1
        reused: bytes used: 1125532343
        reused: ideal sectors: 39932671
        reused: lines: 24312745
        reused: none: 556
        reused: requests: 12351691
        reused: sectors: 53510131
        sampled: 91
        sectors after remedies: 1008775
        unknown: Triton writes this kernel: its code is not known: 365
        unknown: its code is not known: 39
        unknown: scatter: output to operand depends on runtime indices; its code is not known: 101
        unknown: what a sort moves depends on its data: 16
        unknown: where an element goes depends on the values; its code is not known: 21
        unknown: where it is written is decided in the kernel; its code is not known: 14
        widths: 0
        worst: bytes used: 1125603849
        worst: ideal sectors: 39936117
        worst: lines: 24330064
        worst: none: 556
        worst: requests: 12353989
        worst: sectors: 53539567
    "#]]);
    pictures.check(expect![[r#"
        blocks: 1016664
        first and last bytes: 3548762866
        iterations: 599634
        lanes: 97114
        no pictures: 350
        pictures: 3354
        sectors of pictures: 14803
        warps: 10748
    "#]]);
}

/// Code that accesses what the maps say, an element or four at a time, some of them not always, or in pairs.
fn code(analysis: &FusionAnalysis) -> Vec<CodeAccess> {
    let accesses = analysis.memory_accesses().into_iter().enumerate();
    let coded = accesses.filter(|(_, access)| access.positions.is_mapped()).filter_map(|(number, access)| {
        let element_bits = i64::from(access.shape.element()?.bits()?.max(8));
        let bytes = element_bits / 8;
        let at = access.positions.results().iter().map(|result| result.clone() * bytes).collect();
        Some(CodeAccess {
            kind: match access.buffer {
                Buffer::Operand(_) => CodeAccessKind::Read,
                _ => CodeAccessKind::Write,
            },
            buffer: access.buffer,
            map: access.positions.with_results(at),
            gathered_at: Vec::new(),
            bytes: if number % 3 == 0 { 4 * bytes } else { bytes },
            element_bits,
            distances: match number % 4 {
                0 => vec![0],
                1 => vec![0, bytes],
                2 => vec![0, 3 * bytes, 128],
                _ => vec![4096, 0],
            },
            is_certain: number % 5 != 0,
            is_bulk: false,
        })
    });
    coded.collect()
}

#[test]
fn by_code() {
    let (mut tally, mut pictures) = (Tally::default(), Tally::default());
    each(|_, _, analysis| {
        let Ok(analysis) = analysis else { return };
        for buffer in analysis.coalescing_of(&|analysis| Ok(code(analysis))) {
            add_buffer(&mut tally, &buffer);
            for code in buffer.code.iter().flatten() {
                add_counts(&mut tally, "near", Some(code.near.worst));
                tally.add(without_numbers(&format!("near {:?}", code.near.pattern)), 1);
                add_picture(&mut pictures, code.access.picture(&analysis, 1, 1, 5));
            }
        }
    });
    tally.check(expect![[r#"
        accessed: 1744
        best: bytes used: 2158128442
        best: ideal sectors: 68502329
        best: lines: 37498305
        best: none: 16
        best: requests: 15610313
        best: sectors: 108127255
        buffers: 2125
        coalesced for XLA: false: 211
        coalesced for XLA: true: 1208
        coalesced: None: 16
        coalesced: Some(false): 156
        coalesced: Some(true): 1953
        exact: 1560
        judged at worst: 0
        judged: bytes used: 1389609701
        judged: ideal sectors: 48414155
        judged: lines: 21233810
        judged: none: 16
        judged: requests: 7956784
        judged: sectors: 63125657
        near Broadcast: 19
        near Contiguous: 668
        near Irregular: 42
        near Runs { lanes: , step:  }: 37
        near Strided(): 530
        near Uniform: 381
        near: bytes used: 2060780321
        near: ideal sectors: 72039100
        near: lines: 35789148
        near: requests: 14295607
        near: sectors: 92989842
        pattern Broadcast: 19
        pattern Contiguous: 641
        pattern Irregular: 39
        pattern Runs { lanes: , step:  }: 31
        pattern Strided(): 503
        pattern Uniform: 349
        reused: bytes used: 1389609701
        reused: ideal sectors: 48414155
        reused: lines: 21233810
        reused: none: 16
        reused: requests: 7956784
        reused: sectors: 63125657
        sampled: 93
        unknown: what a sort moves depends on its data: 16
        widths: 12663
        worst: bytes used: 2832562704
        worst: ideal sectors: 92222186
        worst: lines: 52284501
        worst: none: 16
        worst: requests: 22071849
        worst: sectors: 138802462
    "#]]);
    pictures.check(expect![[r#"
        blocks: 508332
        first and last bytes: 2138845793
        iterations: 390646
        lanes: 46893
        pictures: 1677
        sectors of pictures: 7991
        warps: 5374
    "#]]);
}

//! The configurations of a fusion as a table.

use super::{Tiling, Tilings};
use crate::kernel::figures::duration;
use crate::units::bytes;

const COLUMNS: [&str; 10] = [
    "tiles",
    "warps",
    "stages",
    "blocks",
    "masked",
    "shared memory",
    "blocks/SM",
    "sectors",
    "bytes",
    "time",
];

impl Tilings {
    /// The table below its head.
    pub fn text(&self) -> String {
        let (head, body) = self.parts();
        head.iter().map(|line| format!("{line}\n")).collect::<String>() + "\n" + &body
    }

    /// The lines of the head, and the table with its legend.
    pub(super) fn parts(&self) -> (Vec<String>, String) {
        let mut head = vec![format!("%{} · tile sizes · {}", self.instruction, self.device)];
        head.extend(self.no_search.as_ref().map(|why| format!("XLA's search ranks no tile sizes: {why}")));
        let rows: Vec<[String; 11]> = self.configs.iter().map(row).collect();
        let width = |column: usize| {
            let cells = rows.iter().map(|row| row[column].chars().count());
            cells.chain([COLUMNS[column].chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..COLUMNS.len()).map(width).collect();
        let line = |cells: &[String]| {
            let padded =
                cells.iter().zip(widths.iter().chain([&0])).enumerate().map(|(column, (cell, &width))| {
                    if column == 0 || column == COLUMNS.len() {
                        format!("{cell:<width$}")
                    } else {
                        format!("{cell:>width$}")
                    }
                });
            padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
        };
        let mut body = line(&COLUMNS.map(str::to_owned));
        for (tiling, row) in self.configs.iter().zip(&rows) {
            body += &line(row);
            match &tiling.figures {
                Err(why) => body += &format!("  refused: {why}\n"),
                Ok(figures) => {
                    body += &figures
                        .time
                        .as_ref()
                        .err()
                        .map_or_else(String::new, |why| format!("  no time: {why}\n"));
                }
            }
        }
        body += "\n";
        body += LEGEND;
        (head, body)
    }
}

const LEGEND: &str = "\
now: the choice in the text
masked: the share of the elements of tiles that is outside of the arrays
shared memory: operand tiles of dots for each stage, by XLA's model; Triton's own use is not known
blocks/SM: at most, by threads, that shared memory and the registers of the sums of loops; other registers are not known
sectors: of 32 bytes per request of a warp, on average, by Triton's layout rules
bytes, time: of XLA's cost model, without the launch
";

/// The cells of a configuration, and the remark behind them.
fn row(tiling: &Tiling) -> [String; 11] {
    let config = &tiling.config;
    let unknown = || "–".to_owned();
    let mut cells = std::array::from_fn(|_| unknown());
    cells[..3].clone_from_slice(&[config.tiles(), config.warps.to_string(), config.stages.to_string()]);
    if let Ok(figures) = &tiling.figures {
        cells[3] = figures.blocks.to_string();
        cells[4] = percent(figures.masked);
        cells[5] =
            figures.shared_bytes.map_or_else(unknown, |count| format!("≈ {}", bytes(count.max(0) as u64)));
        cells[6] = figures.blocks_per_core.map_or_else(unknown, |blocks| blocks.to_string());
        cells[7] = figures.sectors_per_request.map_or_else(unknown, |sectors| format!("{sectors:.1}"));
        // A float cast saturates.
        cells[8] = figures.bytes().map_or_else(unknown, |count| bytes(count as u64));
        cells[9] =
            figures.time.as_ref().map_or_else(|_| unknown(), |time| format!("≈ {}", duration(time.exec_us)));
    }
    let now = tiling.is_stated.then(|| "now".to_owned());
    let asked = (tiling.is_asked && !tiling.is_stated).then(|| "asked for".to_owned());
    let best = tiling.rank.map(|rank| match rank {
        1 => "fastest by XLA's model".to_owned(),
        rank => format!("{rank}. by XLA's model"),
    });
    cells[10] = now.into_iter().chain(asked).chain(best).collect::<Vec<_>>().join(", ");
    cells
}

/// `0 %`, `0.4 %`, `49.6 %`
fn percent(share: f64) -> String {
    let text = format!("{:.1}", share * 100.0);
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}

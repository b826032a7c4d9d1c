//! XLA's flags, as the files of a dump give them.

/// A flag and its value, as it would follow `--` in `XLA_FLAGS` but for quotes: `xla_gpu_autotune_level`, `0`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    pub name: String,
    /// Without quotes. A flag with several values is listed several times.
    pub value: String,
}

/// The flags of a `debug_options` file: those that differ from XLA's defaults. Other lines are skipped.
pub fn changed_flags(text: &str) -> Vec<Flag> {
    text.lines().filter_map(flag).collect()
}

/// The flags of a `config.pbtxt`: all of the message `debug_options`, those of messages within it aside.
pub fn all_flags(text: &str) -> Vec<Flag> {
    let mut lines = text.lines().skip_while(|line| *line != "debug_options {").skip(1);
    let mut flags = Vec::new();
    let mut depth = 0usize;
    for line in &mut lines {
        match line.trim() {
            "}" if depth == 0 => break,
            "}" => depth -= 1,
            line if line.ends_with('{') => depth += 1,
            line if depth == 0 => flags.extend(flag(line)),
            _ => {}
        }
    }
    flags
}

/// The value of a flag; the first one if it has several.
pub fn flag_value<'a>(flags: &'a [Flag], name: &str) -> Option<&'a str> {
    flags.iter().find(|flag| flag.name == name).map(|flag| flag.value.as_str())
}

/// XLA's default of a flag as of August 2026, where its code sets a constant; flags that it does not set are off, 0 or empty.
/// Source: `DefaultDebugOptionsIgnoringFlags`, `xla/debug_options_flags.cc`.
pub fn default_flag(name: &str) -> Option<&'static str> {
    let lines = include_str!("flag_defaults.txt").lines();
    lines
        .map(|line| line.split_once(' ').unwrap_or((line, "")))
        .find(|found| found.0 == name)
        .map(|found| found.1)
}

fn flag(line: &str) -> Option<Flag> {
    let (name, value) = line.trim().split_once(": ")?;
    let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') && !name.is_empty();
    let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
    is_name.then(|| Flag { name: name.to_owned(), value: value.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_known_by_the_name_of_a_flag() {
        assert_eq!(default_flag("xla_gpu_autotune_level"), Some("4"));
        assert_eq!(default_flag("xla_gpu_cuda_data_dir"), Some("./cuda_sdk_lib"));
        assert_eq!(default_flag("xla_gpu_autotune"), None);
        let lines: Vec<&str> = include_str!("flag_defaults.txt").lines().collect();
        assert!(lines.len() > 200 && lines.is_sorted() && lines.iter().all(|line| line.starts_with("xla_")));
    }

    #[test]
    fn flags_are_read_from_both_files() {
        let changed = changed_flags("xla_dump_to: \"d\"\nxla_gpu_autotune_level: 0\nno flag\n: x\n");
        let shown: Vec<_> = changed.iter().map(|flag| (&*flag.name, &*flag.value)).collect();
        assert_eq!(shown, [("xla_dump_to", "d"), ("xla_gpu_autotune_level", "0")]);
        assert_eq!(flag_value(&changed, "xla_dump_to"), Some("d"));
        let config = "seed: 1\ndebug_options {\n  a: 1\n  inner {\n    b: 2\n  }\n  c: \".*\"\n}\nd: 4\n";
        let all = all_flags(config);
        let shown: Vec<_> = all.iter().map(|flag| (&*flag.name, &*flag.value)).collect();
        assert_eq!(shown, [("a", "1"), ("c", ".*")]);
        assert_eq!(flag_value(&all, "b"), None);
        for end in 0..config.len() {
            assert!(all_flags(&config[..end]).len() <= 2);
        }
    }
}

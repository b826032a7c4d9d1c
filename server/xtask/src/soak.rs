//! `cargo xtask soak`: random clients of the release binary, for as long as one likes.

use anyhow::{Context as _, Result, bail};

use crate::commands::{cargo, run};

/// The tests of `tests/soak`, by the name of what they look at.
const PARTS: [(&str, &str); 2] = [
    ("differential", "random_edits_give_what_the_text_gives_from_scratch"),
    ("queries", "every_query_has_an_answer"),
];

struct Options<'a> {
    minutes: u64,
    /// Of one case that runs again, or of the first of many.
    seed: Option<(&'static str, u64)>,
    part: Option<&'a str>,
}

impl<'a> Options<'a> {
    fn parse(mut options: &[&'a str]) -> Result<Options<'a>> {
        let mut parsed = Options { minutes: 60, seed: None, part: None };
        let number = |text: &str| text.parse().with_context(|| format!("{text} is no number"));
        while let [option, rest @ ..] = options {
            options = match (*option, rest) {
                ("--minutes", [value, rest @ ..]) => {
                    parsed.minutes = number(value)?;
                    rest
                }
                ("--seed", [value, rest @ ..]) => {
                    parsed.seed = Some(("HLO_ANALYZER_SOAK_SEED", number(value)?));
                    rest
                }
                ("--first-seed", [value, rest @ ..]) => {
                    parsed.seed = Some(("HLO_ANALYZER_SOAK_FIRST_SEED", number(value)?));
                    rest
                }
                (part, rest) if PARTS.iter().any(|(name, _)| *name == part) => {
                    parsed.part = Some(part);
                    rest
                }
                (other, _) => bail!(
                    "soak takes --minutes N, --seed N or --first-seed N, and differential or queries, not {other}"
                ),
            };
        }
        Ok(parsed)
    }
}

pub fn soak(options: &[&str]) -> Result<()> {
    let options = Options::parse(options)?;
    for (name, test) in PARTS {
        if options.part.is_some_and(|part| part != name) {
            continue;
        }
        let package = ["test", "--release", "--package", "hlo-analyzer-tests", "--test", "soak"];
        let filter = ["--", "--exact", "--nocapture", test];
        let mut test = cargo(&[&package[..], &filter].concat());
        test.env("HLO_ANALYZER_SOAK_MINUTES", options.minutes.to_string());
        if let Some((variable, seed)) = options.seed {
            test.env(variable, seed.to_string());
        }
        run(&mut test)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Options;

    #[test]
    fn options_are_read_in_any_order() {
        let options =
            Options::parse(&["queries", "--minutes", "5", "--seed", "7"]).expect("they are options");
        assert_eq!((options.minutes, options.part), (5, Some("queries")));
        assert_eq!(options.seed, Some(("HLO_ANALYZER_SOAK_SEED", 7)));
        assert!(Options::parse(&["--minutes"]).is_err());
        assert!(Options::parse(&["everything"]).is_err());
    }
}

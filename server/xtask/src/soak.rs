//! `cargo xtask soak`: tests the release binary with random clients for a given time, and with every request
//! on deep inputs.

use anyhow::{Context as _, Result, bail};

use crate::commands::{cargo, run};

/// Tests, by the name of their subject.
struct Part {
    name: &'static str,
    target: &'static str,
    filter: &'static [&'static str],
}

const PARTS: [Part; 5] = [
    Part {
        name: "differential",
        target: "soak",
        filter: &["--exact", "random_edits_give_what_the_text_gives_from_scratch"],
    },
    Part {
        name: "simulation",
        target: "soak",
        filter: &["--exact", "a_simulated_client_is_answered_as_by_a_server_without_edits"],
    },
    Part {
        name: "changing-files",
        target: "soak",
        filter: &["--exact", "files_of_a_dump_may_change_while_requests_read_them"],
    },
    Part { name: "queries", target: "soak", filter: &["--exact", "every_query_has_an_answer"] },
    Part { name: "small-stack", target: "small_stack", filter: &[] },
];

struct Options<'a> {
    minutes: u64,
    /// The environment variable and seed of one case to repeat, or of the first of many.
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
                (part, rest) if PARTS.iter().any(|known| known.name == part) => {
                    parsed.part = Some(part);
                    rest
                }
                (other, _) => bail!(
                    "soak takes --minutes N, --seed N or --first-seed N, and differential, simulation, changing-files, queries or small-stack, not {other}"
                ),
            };
        }
        Ok(parsed)
    }
}

pub fn soak(options: &[&str]) -> Result<()> {
    let options = Options::parse(options)?;
    for part in PARTS {
        if options.part.is_some_and(|name| name != part.name) {
            continue;
        }
        let package = ["test", "--release", "--package", "hlo-analyzer-tests", "--test", part.target];
        let mut test = cargo(&[&package[..], &["--", "--nocapture"], part.filter].concat());
        test.env("HLO_ANALYZER_SOAK_MINUTES", options.minutes.to_string());
        // All inputs of `tests/small_stack`, with all requests.
        test.env("HLO_ANALYZER_DEEP", "");
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

//! `query`: JSON Lines in, JSON Lines out; one response per request, in order, flushed after each.

use std::io::{BufRead, BufWriter, Read, Write, stdin, stdout};
use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use super::terminal::write_json;
use crate::api::{ApiError, ErrorKind, Session};
use crate::limits;

#[derive(clap::Args)]
pub struct QueryArguments {
    /// The GPU that kernels target where a request names none.
    #[arg(long, value_name = "NAME", default_value = ide::DEFAULT_DEVICE)]
    device: String,
}

pub fn run(arguments: &QueryArguments) -> Result<ExitCode> {
    let mut input = stdin().lock();
    let mut output = BufWriter::new(stdout().lock());
    let mut session = Session::for_device(&arguments.device).map_err(anyhow::Error::msg)?;
    let (mut line, most) = (Vec::new(), limits::request_bytes());
    loop {
        line.clear();
        let mut limited = (&mut input).take(most);
        if limited.read_until(b'\n', &mut line)? == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        let answer = if line.len() as u64 >= most && !line.ends_with(b"\n") {
            input.skip_until(b'\n')?;
            let message = format!("a request has at most {} MiB; --max-request MIB raises that", most >> 20);
            json!({"id": null, "error": ApiError::new(ErrorKind::Limit, message)})
        } else {
            let text = String::from_utf8_lossy(&line);
            if text.trim().is_empty() {
                continue;
            }
            session.answer(text.trim_end())
        };
        write_json(&mut output, &answer)?;
        output.write_all(b"\n")?;
        output.flush()?;
    }
}

//! The command line.

use std::time::Duration;

pub const USAGE: &str =
    "usage: cost [--private] [--pin] [--pipelined] [--blocking] [--tasks N] [--rounds N] [--millis N] [URL...]
--private: SQLite and a cache in memory, and MariaDB, PostgreSQL and Redis started for this alone
A URL is sqlite::memory:, sqlite:FILE, mysql://USER:PASSWORD@HOST/NAME or postgres://USER:PASSWORD@HOST/NAME,
or of a cache: memory or redis://:PASSWORD@HOST";

pub struct Args {
    pub private: bool,
    pub pin: bool,
    pub pipelined: bool,
    pub blocking: bool,
    pub tasks: usize,
    pub rounds: usize,
    pub round: Duration,
    pub urls: Vec<String>,
}

impl Args {
    pub fn read(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut parsed = Self {
            private: false,
            pin: false,
            pipelined: false,
            blocking: false,
            tasks: 32,
            rounds: 9,
            round: Duration::from_millis(500),
            urls: Vec::new(),
        };
        while let Some(arg) = args.next() {
            let mut number = || {
                let value = args.next().and_then(|value| value.parse().ok()).filter(|number| *number > 0);
                value.ok_or_else(|| format!("{arg} needs a number from 1"))
            };
            match arg.as_str() {
                "--private" => parsed.private = true,
                "--pin" => parsed.pin = true,
                "--pipelined" => parsed.pipelined = true,
                "--blocking" => parsed.blocking = true,
                "--tasks" => parsed.tasks = number()?,
                "--rounds" => parsed.rounds = number()?,
                "--millis" => parsed.round = Duration::from_millis(number()? as u64),
                option if option.starts_with('-') => return Err(format!("there is no option {option}")),
                _ => parsed.urls.push(arg),
            }
        }
        if parsed.urls.is_empty() && !parsed.private { Err("no URL is given".to_owned()) } else { Ok(parsed) }
    }
}

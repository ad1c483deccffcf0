//! The command that presses the limit once more.

use crate::cli::LIMIT_FLAGS;
use torr_doctor::limit::{Outcome, Slo};

/// A command of `torr URL` that is to succeed, with the request and the way there as on this command line.
pub fn command(outcome: &Outcome, slo: &Slo, args: impl IntoIterator<Item = String>) -> Option<String> {
    let sustained = outcome.sustained.as_ref()?;
    let rate = if sustained.rate >= 10.0 {
        format!("{:.0}", sustained.rate.floor())
    } else {
        format!("{:.2}", sustained.rate)
    };
    let breaches: Vec<_> = slo.breaches().iter().map(ToString::to_string).collect();
    let kept: Vec<_> = carried_over(args.into_iter()).iter().map(|arg| quoted(arg)).collect();
    Some(format!(
        "torr {} -r {rate} --arrivals {} --max-connections {} -d 30s --fail-if {}",
        kept.join(" "),
        outcome.arrivals,
        outcome.max_connections,
        quoted(&breaches.join(","))
    ))
}

/// What is not of `torr limit` alone: the URL, the request, the transport.
fn carried_over(args: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept = Vec::new();
    // The program's name comes first, then that of the command.
    let mut args = args.skip(1).skip_while(|arg| arg != "limit").skip(1);
    while let Some(arg) = args.next() {
        let name = arg.split('=').next().unwrap_or_default();
        match LIMIT_FLAGS.iter().find(|(flag, _)| *flag == name) {
            Some((_, true)) if !arg.contains('=') => drop(args.next()),
            Some(_) => {}
            None if arg == "-q" => {}
            None => kept.push(arg),
        }
    }
    kept
}

/// As a shell takes it for one word.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_is_carried_over_and_nothing_else() {
        for (line, kept) in [
            ("torr limit http://h/", "http://h/"),
            ("torr limit --slo p99<5ms http://h/ --budget=9s -q -H a:b --json x --i-own-this", "http://h/ -H a:b"),
            (
                "torr limit -t 2 h --max-rate 5 --max-connections 9 --arrivals constant --no-keepalive",
                "-t 2 h --no-keepalive",
            ),
        ] {
            assert_eq!(carried_over(line.split(' ').map(str::to_owned)).join(" "), kept, "{line}");
        }
    }

    #[test]
    fn a_shell_takes_each_for_one_word() {
        let words = ["http://h/a", "a b", "it's", "p99>=5ms", "", "$x"].map(quoted);
        assert_eq!(words, ["http://h/a", "'a b'", r"'it'\''s'", "'p99>=5ms'", "''", "'$x'"]);
    }
}

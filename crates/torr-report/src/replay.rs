//! The replay of a log: what was left out, and the run beside the log.

use crate::human::{count, cut, mean, micros, percent, plural, printable};
use crate::style::{BAD, FAINT, paint};
use crate::table::align_within;
use std::collections::BTreeMap;
use std::fmt::Write;
use torr_gauge::replay::{Replay, ReplayedPath};

/// The number of paths in the table.
const MOST_PATHS: usize = 20;
/// The number of names or pairs of statuses in a line.
const MOST_NAMED: usize = 5;
/// The limit of a path in characters.
const LONGEST_PATH: usize = 40;
/// What stands for a time that is not known.
const NOT_KNOWN: &str = "-";

/// Returns the lines about a replay and its table, in at most `width` columns.
pub(crate) fn section(replay: &Replay, width: usize) -> String {
    let mut text = String::new();
    let mut line = |name: &str, what: &str| {
        let _ = writeln!(text, "{name:<12} {what}");
    };
    line("log", &log(replay));
    if let Some(left_out) = left_out(replay) {
        line("left out", &left_out);
    }
    if let Some(first) = &replay.first_unreadable {
        line("unreadable", &paint(FAINT, format!("the first line is '{}'", printable(first))));
    }
    if let Some(bursts) = replay.bursts {
        let (average, peak) = (mean(bursts.mean), count(bursts.peak));
        let dispersion = mean(bursts.dispersion);
        line("bursts", &format!("mean {average}/s, peak {peak}/s, index of dispersion {dispersion} (1 at random)"));
    }
    if replay.compared > 0 {
        line("statuses", &statuses(replay));
    }
    text.push('\n');
    text.push_str(&align_within(&rows(replay), width));
    if replay.paths.len() > MOST_PATHS {
        let more = format!("and {} more paths (--json has all)", count((replay.paths.len() - MOST_PATHS) as u64));
        let _ = writeln!(text, "{}", paint(FAINT, more));
    }
    text
}

fn log(replay: &Replay) -> String {
    let speed = if replay.speed == 1.0 { String::new() } else { format!(", {}x as fast", replay.speed) };
    let late = if replay.late == 0 { String::new() } else { format!(", {} later than in the log", count(replay.late)) };
    let spread = if replay.spread { ", spread over whole seconds" } else { "" };
    let requests = plural(replay.requests, "request");
    format!("{requests} from {} to {}{speed}{spread}{late}", replay.from, replay.to)
}

/// Returns what of the log was not sent; `None` if all was.
fn left_out(replay: &Replay) -> Option<String> {
    let unreadable = (replay.unreadable > 0).then(|| format!("{} unreadable", plural(replay.unreadable, "line")));
    let outside = (replay.outside > 0).then(|| format!("{} outside the range of times", count(replay.outside)));
    let named = |what: &str, names: &BTreeMap<String, u64>| {
        let all: u64 = names.values().sum();
        let mut names: Vec<_> = names.iter().collect();
        names.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let rest = if names.len() > MOST_NAMED { ", ..." } else { "" };
        let names = names.into_iter().take(MOST_NAMED);
        let names: Vec<_> = names.map(|(name, n)| format!("{} {}", printable(name), count(*n))).collect();
        (all > 0).then(|| format!("{} by {what} ({}{rest})", count(all), names.join(", ")))
    };
    let (methods, hosts) = (named("method", &replay.left_out_methods), named("host", &replay.left_out_hosts));
    let parts: Vec<_> = [unreadable, outside, methods, hosts].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn statuses(replay: &Replay) -> String {
    let same = count(replay.compared - replay.changed);
    if replay.changed == 0 {
        return format!("{same} as in the log");
    }
    let changed = replay.statuses.iter().filter(|pair| pair.then != pair.now);
    let rest = if changed.clone().count() > MOST_NAMED { ", ..." } else { "" };
    let changed = changed.take(MOST_NAMED).map(|pair| format!("{} -> {}: {}", pair.then, pair.now, count(pair.count)));
    let changed = changed.collect::<Vec<_>>().join(", ");
    let share = percent(replay.changed as f64 / replay.compared.max(1) as f64);
    format!(
        "{same} as in the log, {}",
        paint(BAD, format!("{} changed ({share}): {changed}{rest}", count(replay.changed)))
    )
}

/// Returns the table of paths, then and now.
fn rows(replay: &Replay) -> Vec<Vec<String>> {
    let all: u64 = replay.paths.iter().map(|path| path.requests).sum();
    let heads = ["path", "requests", "share", "p50 then", "p50 now", "p99 then", "p99 now", "changed", "failed"];
    let time = |us: Option<u64>| us.map_or_else(|| NOT_KNOWN.to_owned(), |us| micros(us as f64));
    let row = |path: &ReplayedPath| {
        let name = format!("{} {}", printable(&path.method), printable(&path.path));
        vec![
            cut(&name, LONGEST_PATH),
            count(path.requests),
            percent(path.requests as f64 / all.max(1) as f64),
            time(path.then_p50_us),
            time(path.now_p50_us),
            time(path.then_p99_us),
            time(path.now_p99_us),
            count(path.changed),
            count(path.failed),
        ]
    };
    let heads = heads.iter().map(|&head| head.to_owned()).collect();
    std::iter::once(heads).chain(replay.paths.iter().take(MOST_PATHS).map(row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use torr_gauge::replay::{Bursts, StatusPair};

    #[test]
    fn a_replay_is_compared_with_its_log() {
        let path = ReplayedPath {
            method: "GET".into(),
            path: "/orders/{id}".into(),
            requests: 90,
            changed: 2,
            then_p50_us: Some(1500),
            now_p50_us: Some(2500),
            ..ReplayedPath::default()
        };
        let replay = Replay {
            speed: 2.0,
            from: "2026-11-29T10:00:00Z".into(),
            to: "2026-11-29T10:30:00Z".into(),
            requests: 90,
            unreadable: 1,
            left_out_methods: [("POST".to_owned(), 7)].into(),
            bursts: Some(Bursts { seconds: 60, mean: 1.5, peak: 30, dispersion: 12.0 }),
            compared: 90,
            changed: 2,
            statuses: vec![StatusPair { then: 200, now: 200, count: 88 }, StatusPair { then: 200, now: 500, count: 2 }],
            paths: vec![path],
            ..Replay::default()
        };
        let text = anstream::adapter::strip_str(&section(&replay, 200)).to_string();
        for part in [
            "log          90 requests from 2026-11-29T10:00:00Z to 2026-11-29T10:30:00Z, 2x as fast",
            "left out     1 line unreadable, 7 by method (POST 7)",
            "peak 30/s, index of dispersion 12",
            "88 as in the log, 2 changed (2.2%): 200 -> 500: 2",
            "GET /orders/{id}",
            "2.50 ms",
        ] {
            assert!(text.contains(part), "{part}:\n{text}");
        }
    }
}

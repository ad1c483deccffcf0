//! The report of all comparisons as Markdown, which is written beside their archive.

use std::fs;

use serde_json::Value;

use super::archive::Archive;
use super::tally::{Tally, tallies};
use crate::report::{NONE, table};
use torr_test_support::error::Error;

/// Writes the report beside the archive, and returns it.
pub fn write(archive: &Archive) -> Result<String, Error> {
    let text = markdown(archive);
    let path = archive.folder().join("power.md");
    fs::write(&path, &text).map_err(Error::at(path.display()))?;
    Ok(text)
}

fn markdown(archive: &Archive) -> String {
    let header = &archive.header;
    let word = |name: &str| header.machine[name].as_str().unwrap_or("unknown").to_owned();
    let number = |name: &str| header.machine[name].as_u64().map_or("?".into(), |number: u64| number.to_string());
    let mut text = format!("# What torr compare can show, {}, revision {}\n\n", header.started_at, word("revision"));
    text += &format!(
        "Comparisons of a service with itself, with a budget of {:.0} s each. One of the two versions does more for each request: it \
         computes, allocates or queries SQLite. How much more CPU time that is, is measured before.\n\n",
        header.budget_s
    );
    text += &format!("- {}, {} cores; Linux {}\n", word("cpu"), number("cores"), word("kernel"));
    text += &format!("- load average before the run: {}\n", word("load_average"));
    if header.machine["torr_is_this_revision"] == Value::Bool(false) {
        text += "- torr was given by `--torr`, and need not be of this revision\n";
    }
    for calibration in archive.calibrations() {
        text += &format!(
            "- {}: a request takes {:.0} us of CPU time, a unit {:.3}% more; by {} pairs of turns with {} units\n",
            calibration.kind,
            calibration.base_us,
            calibration.unit() * 100.0,
            calibration.ratios.len(),
            calibration.units,
        );
    }
    let all = tallies(archive.entries());
    let mut neighbours: Vec<_> = all.iter().map(|tally| tally.neighbours).collect();
    neighbours.dedup();
    for count in neighbours {
        let these: Vec<_> = all.iter().filter(|tally| tally.neighbours == count).collect();
        text += &match count {
            0 => "\n## Without neighbours\n\n".to_owned(),
            _ => format!("\n## Beside {count} programs that want a CPU half of the time\n\n"),
        };
        text += &table(&rows(&these));
    }
    text + "\n`shown` counts comparisons that call the CPU time of a request different in the right direction, and of 0% each that \
            does; `any` those that call any metric different, a false alarm at 0%; `interval` the 99% intervals that hold \
            the truth.\n"
}

fn rows(tallies: &[&Tally]) -> Vec<Vec<String>> {
    let head = [
        "difference",
        "planted",
        "comparisons",
        "shown",
        "reversed",
        "same",
        "any",
        "interval",
        "smallest",
        "s",
        "others",
    ];
    let percent = |share: f64| format!("{:.2}%", share * 100.0);
    let row = |tally: &&Tally| {
        let [least, most] = tally.planted.map(percent);
        vec![
            format!("{}%", tally.difference),
            if least == most { least } else { format!("{least} to {most}") },
            tally.count.to_string(),
            tally.shown.to_string(),
            tally.reversed.to_string(),
            tally.same.to_string(),
            tally.any.to_string(),
            format!("{} of {}", tally.hold, tally.intervals),
            tally.smallest.map_or(NONE.into(), percent),
            format!("{:.0}", tally.seconds),
            percent(tally.others),
        ]
    };
    std::iter::once(head.map(str::to_owned).to_vec()).chain(tallies.iter().map(row)).collect()
}

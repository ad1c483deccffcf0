//! A round as a table in Markdown: for people, and for an archive without trails.

use crate::outcome::{Outcome, Record};
use crate::totals::{Locations, Sampled, Totals, percent};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Returns the counts of each factor, the totals, and a row for each diagnosis.
pub fn table(record: &Record) -> String {
    let mut text = format!("# Verdicts of {}\n\n", record.by);
    if record.neighbours > 0 {
        let _ = writeln!(text, "Beside {} programs that want a CPU half of the time.\n", record.neighbours);
    }
    text += "| limited by | cases | right | of these certain | not known | wrong | wrong and certain |\n|---|--:|--:|--:|--:|--:|--:|\n";
    let mut factors = BTreeMap::<String, Vec<&Outcome>>::new();
    for outcome in &record.outcomes {
        let healthy = if outcome.label.fault { "" } else { "healthy: " };
        factors.entry(format!("{healthy}{}", outcome.label.main())).or_default().push(outcome);
    }
    let all = record.outcomes.iter().collect();
    for (name, outcomes) in factors.into_iter().chain([("**all**".to_owned(), all)]) {
        let Totals { count, right, certain, unknown, wrong, surely_wrong } = Totals::of(&outcomes);
        let _ = writeln!(text, "| {name} | {count} | {right} | {certain} | {unknown} | {wrong} | {surely_wrong} |");
    }
    let promises: Vec<_> = record.outcomes.iter().filter_map(Outcome::is_promise_kept).collect();
    let kept = promises.iter().filter(|kept| **kept).count();
    let _ = writeln!(
        text,
        "\n{kept} of {} promises of gain were kept. {} cases were not run.\n",
        promises.len(),
        record.not_run.len()
    );
    let is_located = record.outcomes.iter().any(|outcome| outcome.located.is_some());
    let (of_place, rule) = if is_located { (" of its place | |", "---|---|") } else { ("", "") };
    let _ = writeln!(
        text,
        "| case | limited by | verdict | | s | promised | real | |{of_place}\n|---|---|---|---|--:|---|--:|---|{rule}"
    );
    for outcome in &record.outcomes {
        let (finding, promise) = (&outcome.finding, &outcome.promise);
        let kept = word(outcome.is_promise_kept());
        let of_place = match outcome.location_promise() {
            Some(promise) => format!(" {} | {} |", promise.promised(), word(outcome.is_location_kept())),
            None if is_located => " | |".into(),
            None => String::new(),
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} ({}) | {} | {:.0} | {} | {} | {kept} |{of_place}",
            outcome.name,
            outcome.label,
            finding.factor,
            finding.confidence,
            outcome.word(),
            finding.seconds,
            promise.promised(),
            promise.real.map_or("-".into(), |real| format!("{real:.2}")),
        );
    }
    for (name, why) in &record.not_run {
        let of_place = if is_located { " | |" } else { "" };
        let _ = writeln!(text, "| {name} | not run: {} | | | | | | |{of_place}", why.replace('|', "\\|"));
    }
    text + &locations(record)
}

/// Returns the word for a promise that was kept or not. Empty if it was not judged.
fn word(kept: Option<bool>) -> &'static str {
    match kept {
        Some(true) => "kept",
        Some(false) => "**broken**",
        None => "",
    }
}

/// Returns a table of the locations that were named. Empty if no diagnosis looked for one.
fn locations(record: &Record) -> String {
    let Locations { judged, visible, named, silent, wrong, promised, kept } = Locations::of(&record.outcomes);
    if judged == 0 {
        return String::new();
    }
    let mut text = format!(
        "\n{named} of {visible} locations were named{} (aim: 85%), {wrong} wrongly (aim: 0); {silent} of {} that cannot be named were \
         not. {kept} of {promised} promises of locations were kept{} (aim: 90%).",
        percent(named, visible),
        judged - visible,
        percent(kept, promised)
    );
    if let Some(sampled) = Sampled::of(&record.outcomes) {
        let _ = write!(text, " The load that services kept while they were sampled: {sampled} (aim: 0.98).");
    }
    text += "\n\n| case | location | named | |\n|---|---|---|---|\n";
    for outcome in &record.outcomes {
        let (Some(location), Some(located)) = (&outcome.label.location, &outcome.located) else { continue };
        let (name, location) = (located.name().replace('|', "\\|"), location.to_string().replace('|', "\\|"));
        let _ = writeln!(text, "| {} | {location} | {name} | {} |", outcome.name, located.word());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::totals::tests::{located, outcome, record};
    use torr_gauge::Factor;

    #[test]
    fn each_diagnosis_has_a_row_and_each_factor_its_counts() {
        let mut round = record(&[3.0, 9.0]);
        round.outcomes.push(outcome(Factor::Workers, None));
        round.outcomes.push(outcome(Factor::Unknown, None));
        round.not_run.push(("lock-php-file", "php is missing".into()));
        let text = table(&round);
        assert!(text.contains("| lock | 4 | 2 | 0 | 1 | 1 | 0 |\n| **all** | 4 | 2 | 0 | 1 | 1 | 0 |"), "{text}");
        assert!(text.contains("1 of 2 promises of gain were kept. 1 cases were not run."), "{text}");
        assert!(
            text.contains("| lock | lock | lock (likely) | right | 1 | 2.00..4.00 | 9.00 | **broken** |"),
            "{text}"
        );
        assert!(text.contains("| lock-php-file | not run: php is missing |"), "{text}");
    }

    #[test]
    fn a_located_subject_has_the_promise_of_its_place_beside_that_of_the_verdict() {
        let mut round = record(&[3.0]);
        round.outcomes.push(located(true, Some("main.b"), 1.5));
        round.outcomes.push(located(false, None, 1.5));
        let text = table(&round);
        for row in [
            "| case | limited by | verdict | | s | promised | real | | of its place | |\n|---|---|---|---|--:|---|--:|---|---|---|",
            "| lock | lock | lock (likely) | right | 1 | 2.00..4.00 | 3.00 | kept | | |",
            "| lock | lock | lock (likely) | right | 1 | 2.00..4.00 | 1.50 |  | 1.40..1.60 | kept |",
            "| lock | lock | lock (likely) | right | 1 | 2.00..4.00 | 1.50 |  | - |  |",
            "1 of 1 locations were named, 100% (aim: 85%), 0 wrongly (aim: 0); 1 of 1 that cannot be named were not.",
            "1 of 1 promises of locations were kept, 100% (aim: 90%).",
            "| lock | b (shop.go:1) | main.b | right |",
        ] {
            assert!(text.contains(row), "{row}: {text}");
        }
    }
}

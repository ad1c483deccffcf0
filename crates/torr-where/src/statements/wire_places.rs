//! Places of a database from what its packets showed.

use super::capture::Recorded;
use super::database::Database;
use super::place::{REPEATED, Source, StatementPlace};
use super::shares;
use super::tally::Tally;

/// Statements that delimit transactions, and those by which clients look after their connections. Each request may need them.
const HOUSEKEEPING: [&str; 14] = [
    "BEGIN",
    "START TRANSACTION",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT",
    "RELEASE",
    "SET ",
    "SHOW ",
    "SELECT ?",
    "PING",
    "MULTI",
    "EXEC",
    "DISCARD",
    "DEALLOCATE",
];

/// Returns the statements that were seen, that with the most time first.
#[expect(clippy::cast_precision_loss, reason = "numbers of calls are exact enough")]
pub(super) fn places(recorded: &Recorded, database: Database, server: &str, responses: u64) -> Vec<StatementPlace> {
    let mut all = Tally::default();
    for (_, tally) in recorded.totals.iter() {
        all.add(tally);
    }
    let place = |(statement, tally): (_, &Tally)| {
        let text = recorded.tracker.catalogue.text(statement);
        let calls = tally.calls as f64;
        let per_response = (responses > 0).then(|| calls / responses as f64);
        let share = shares::of_times(tally, &all, per_response.unwrap_or(1.0));
        let mean = |sum: f64| (tally.calls > 0).then(|| sum / calls);
        let is_repeated = !text.is_unseen()
            && !is_housekeeping(text.as_str())
            && per_response.is_some_and(|number| number >= REPEATED);
        StatementPlace {
            database,
            server: server.to_owned(),
            source: Source::Wire,
            statement: text.as_str().to_owned(),
            calls: Some(tally.calls),
            per_response,
            is_repeated,
            run: (tally.runs > 0).then(|| calls / tally.runs as f64),
            mean_us: mean(tally.time / 1000.0),
            rows_per_call: mean(tally.rows as f64),
            failed: tally.failed,
            share,
            missing_index: None,
            blocked_by: None,
            gain: share.gain(),
        }
    };
    let mut places: Vec<_> = recorded.totals.iter().map(place).collect();
    places.sort_by(|a, b| b.share.value.total_cmp(&a.share.value).then_with(|| a.statement.cmp(&b.statement)));
    places
}

/// Returns whether a statement does no work of a request.
pub(super) fn is_housekeeping(text: &str) -> bool {
    HOUSEKEEPING.iter().any(|word| {
        let begins = text.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word));
        let is_exact = *word == "SELECT ?";
        begins
            && if is_exact {
                text.len() == word.len()
            } else {
                word.ends_with(' ')
                    || text.len() == word.len()
                    || !text.as_bytes().get(word.len()).is_some_and(u8::is_ascii_alphanumeric)
            }
    })
}

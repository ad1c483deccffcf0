//! Places of a database from what a login showed, alone or beside what its packets showed.

use super::database::Database;
use super::login::{Observed, Seen};
use super::normalise::Text;
use super::place::{Blocker, REPEATED, Source, StatementPlace};
use super::shares;
use super::wire_places::is_housekeeping;
use torr_gauge::verdict::Estimate;

/// The least share of a statement's samples in which it waits for a lock, for the holder to be named.
const BLOCKED: f64 = 0.2;

/// The largest part of a table's rows in a result, for an index to serve.
const SELECTED: f64 = 0.1;

/// Returns the statements that were seen, that with the most time first.
#[expect(clippy::cast_precision_loss, reason = "numbers of calls are exact enough")]
pub(super) fn places(observed: &Observed, database: Database, server: &str, responses: u64) -> Vec<StatementPlace> {
    let all: f64 = observed.statements.values().map(|seen| seen.active).sum();
    let place = |(text, seen): (&Text, &Seen)| {
        let share = if all > 0.0 { seen.active / all } else { 0.0 };
        // Sessions of one sample are alike.
        let share = shares::of_samples(share, observed.samples);
        let calls = seen.counted.map(|(calls, ..)| calls);
        let per_response = calls.filter(|_| responses > 0).map(|calls| calls as f64 / responses as f64);
        let mean = |sum: f64| calls.filter(|calls| *calls > 0).map(|calls| sum / calls as f64);
        let has_rows = database != Database::Redis;
        let mut place = StatementPlace {
            database,
            server: server.to_owned(),
            source: Source::Login,
            statement: text.as_str().to_owned(),
            calls,
            per_response,
            is_repeated: !is_housekeeping(text.as_str()) && per_response.is_some_and(|number| number >= REPEATED),
            run: None,
            mean_us: seen.counted.and_then(|(_, time, _)| mean(time)),
            rows_per_call: seen.counted.filter(|_| has_rows).and_then(|(_, _, rows)| mean(rows as f64)),
            failed: 0,
            share,
            missing_index: None,
            blocked_by: None,
            gain: share.gain(),
        };
        explain(&mut place, seen, observed.samples);
        place
    };
    let mut places: Vec<_> = observed.statements.iter().map(place).filter(|place| place.share.value > 0.0).collect();
    places.sort_by(|a, b| b.share.value.total_cmp(&a.share.value).then_with(|| a.statement.cmp(&b.statement)));
    places
}

/// Adds what a login showed to places that packets have shown.
pub(super) fn add(places: &mut [StatementPlace], observed: &Observed) {
    for place in places.iter_mut().filter(|place| place.is_seen()) {
        let seen = observed.statements.iter().find(|(text, _)| {
            // Most texts are equal as they are.
            text.as_str() == place.statement || text.is_like(&place.statement)
        });
        if let Some((_, seen)) = seen {
            explain(place, seen, observed.samples);
        }
    }
}

/// Says why a statement takes its time, where that is known.
fn explain(place: &mut StatementPlace, seen: &Seen, samples: f64) {
    // A result with many of the table's rows needs all of it.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let serves = |rows: u64| place.rows_per_call.is_none_or(|per_call| per_call <= rows as f64 * SELECTED);
    place.missing_index = seen.missing_index.clone().filter(|index| serves(index.rows));
    place.blocked_by = blocker(seen, samples);
}

/// Returns who holds the locks that a statement waits for.
#[expect(clippy::cast_precision_loss, reason = "a number of samples is exact enough")]
fn blocker(seen: &Seen, samples: f64) -> Option<Blocker> {
    if seen.active <= 0.0 {
        return None;
    }
    let share: Estimate = shares::of_samples(seen.blocked / seen.active, samples.min(seen.active));
    if share.low < BLOCKED {
        return None;
    }
    let all: u64 = seen.blockers.values().sum();
    let most = seen.blockers.iter().max_by(|a, b| a.1.cmp(b.1).then_with(|| b.0.cmp(a.0)));
    // One of several holders is named only if it is the usual one.
    let ((statement, is_idle), _) = most.filter(|(_, number)| **number as f64 >= all as f64 / 2.0)?;
    let statement = statement.as_ref().filter(|text| !text.is_unseen()).map(|text| text.as_str().to_owned());
    Some(Blocker { statement, is_idle_in_transaction: *is_idle, share })
}

//! PostgreSQL's views of sessions and statements.

mod explain;

use super::observed::{Observed, roots};
use super::view::View;
use crate::statements::normalise::{Dialect, Text, sql};
use std::collections::HashMap;
use tokio_postgres::error::Error;
use tokio_postgres::{Client, NoTls, Row, Statement};

/// The sessions of the database that run a statement or have a transaction open, with those that each waits for.
const SESSIONS: &str = "SELECT pid, state, wait_event_type, query, \
    CASE WHEN wait_event_type = 'Lock' THEN pg_blocking_pids(pid) ELSE '{}'::int[] END \
    FROM pg_stat_activity \
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend' \
    AND state IS DISTINCT FROM 'idle' LIMIT 500";

/// The counts of all statements of the database, where the extension is installed.
const COUNTS: &str = "SELECT query, calls, total_exec_time, rows FROM pg_stat_statements \
    WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) LIMIT 5000";

/// The number of statements that are explained.
const EXPLAINED: usize = 3;

/// Calls, microseconds and rows of statements.
type Counts = HashMap<Text, (u64, f64, u64)>;

/// A connection to PostgreSQL.
pub(super) struct PostgresView {
    client: Client,
    sessions: Statement,
    /// The counts before the load; `None` without the extension.
    before: Option<Counts>,
    /// Whether sessions were seen whose statements the login may not read.
    is_restricted: bool,
}

impl View for PostgresView {
    async fn connect(url: &str) -> Result<Self, String> {
        let mut config: tokio_postgres::Config =
            url.parse().map_err(|_| "cannot parse the database's URL".to_owned())?;
        config.application_name("torr");
        let (client, connection) = config.connect(NoTls).await.map_err(words)?;
        // Its error is that of the statements in flight as well.
        tokio::spawn(async move { drop(connection.await) });
        client.batch_execute("SET statement_timeout = '2s'; SET lock_timeout = '200ms'").await.map_err(words)?;
        let sessions = client.prepare(SESSIONS).await.map_err(words)?;
        let before = counts(&client).await.ok();
        Ok(Self { client, sessions, before, is_restricted: false })
    }

    async fn sample(&mut self, observed: &mut Observed) -> Result<(), String> {
        let rows = self.client.query(&self.sessions, &[]).await.map_err(words)?;
        let sessions: HashMap<i64, Session> = rows.iter().filter_map(session).collect();
        self.is_restricted |= sessions.values().any(|session| session.raw == "<insufficient privilege>");
        let waits: HashMap<i64, Vec<i64>> = sessions
            .iter()
            .filter(|(_, session)| !session.waits_for.is_empty())
            .map(|(&pid, session)| (pid, session.waits_for.clone()))
            .collect();
        let mut any = false;
        for (&pid, session) in sessions.iter().filter(|(_, session)| session.is_active) {
            let Some(text) = text(session.raw) else { continue };
            any = true;
            let blockers = waits.contains_key(&pid).then(|| {
                let holders = roots(pid, &waits).into_iter().filter_map(|pid| sessions.get(&pid));
                holders.map(|holder| (self::text(holder.raw), !holder.is_active)).collect()
            });
            observed.session(text, session.raw, blockers);
        }
        observed.samples += f64::from(u8::from(any));
        Ok(())
    }

    async fn end(&mut self, observed: &mut Observed) -> Result<(), String> {
        if self.is_restricted {
            let message = "the login cannot read other users' statements: grant it pg_read_all_stats";
            observed.errors.push(message.into());
        }
        if let Some(before) = &self.before {
            for (text, (calls, time, rows)) in counts(&self.client).await.map_err(words)? {
                let (calls_before, time_before, rows_before) = before.get(&text).copied().unwrap_or_default();
                let Some(calls) = calls.checked_sub(calls_before).filter(|calls| *calls > 0) else { continue };
                if let Some(seen) = observed.of(text) {
                    seen.counted = Some((calls, time - time_before, rows.saturating_sub(rows_before)));
                }
            }
        }
        for text in observed.top(EXPLAINED) {
            let Some(seen) = observed.statements.get_mut(&text) else { continue };
            if let Some(example) = seen.example.take() {
                seen.missing_index = explain::missing_index(&self.client, &example).await;
            }
        }
        Ok(())
    }
}

/// A session.
struct Session<'r> {
    is_active: bool,
    raw: &'r str,
    waits_for: Vec<i64>,
}

fn session(row: &Row) -> Option<(i64, Session<'_>)> {
    let pid: i32 = row.try_get(0).ok()?;
    let state: Option<&str> = row.try_get(1).ok()?;
    let wait: Option<&str> = row.try_get(2).ok()?;
    let raw: Option<&str> = row.try_get(3).ok()?;
    let waits_for: Vec<i32> = row.try_get(4).ok()?;
    // A session that waits for its client within a statement, such as COPY, does nothing.
    let is_active = state == Some("active") && wait != Some("Client");
    Some((pid.into(), Session { is_active, raw: raw?, waits_for: waits_for.into_iter().map(i64::from).collect() }))
}

/// Returns the last statement of a text, which is the one that runs or ran.
fn text(raw: &str) -> Option<Text> {
    // The view shows a text's beginning, by default 1 KiB.
    let is_cut = raw.len() >= 1023;
    sql::statements(raw.as_bytes(), Dialect::Postgres, is_cut).pop()
}

async fn counts(client: &Client) -> Result<Counts, Error> {
    let mut counts = Counts::new();
    for row in client.query(COUNTS, &[]).await? {
        let raw: Option<&str> = row.try_get(0)?;
        let (calls, milliseconds, rows): (i64, f64, i64) = (row.try_get(1)?, row.try_get(2)?, row.try_get(3)?);
        if let Some(text) = raw.and_then(text) {
            let sum = counts.entry(text).or_default();
            sum.0 += calls.unsigned_abs();
            sum.1 += milliseconds * 1000.0;
            sum.2 += rows.unsigned_abs();
        }
    }
    Ok(counts)
}

/// Returns an error in the database's words.
fn words(error: Error) -> String {
    error.as_db_error().map_or_else(|| error.to_string(), |error| error.message().to_owned())
}

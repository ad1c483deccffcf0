//! The views of MySQL and MariaDB: sessions, waits for locks, and counts of statements.

mod explain;

use super::observed::{Observed, roots};
use super::view::View;
use crate::statements::normalise::{Dialect, Text, sql};
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Error, Opts};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// The sessions of the database that run a statement.
const SESSIONS: &str = "SELECT ID, LEFT(INFO, 65536) FROM information_schema.PROCESSLIST \
    WHERE COMMAND IN ('Query', 'Execute') AND ID <> CONNECTION_ID() AND INFO IS NOT NULL AND DB = DATABASE() LIMIT 500";

/// Waits for locks: the session that waits, the one that holds, and what that one runs. MariaDB has the first view, MySQL the second.
const WAITS: [&str; 2] = [
    "SELECT r.trx_mysql_thread_id, b.trx_mysql_thread_id, b.trx_query FROM information_schema.INNODB_LOCK_WAITS w \
    JOIN information_schema.INNODB_TRX r ON r.trx_id = w.requesting_trx_id \
    JOIN information_schema.INNODB_TRX b ON b.trx_id = w.blocking_trx_id LIMIT 2000",
    "SELECT r.trx_mysql_thread_id, b.trx_mysql_thread_id, b.trx_query FROM performance_schema.data_lock_waits w \
    JOIN information_schema.INNODB_TRX r ON r.trx_id = w.REQUESTING_ENGINE_TRANSACTION_ID \
    JOIN information_schema.INNODB_TRX b ON b.trx_id = w.BLOCKING_ENGINE_TRANSACTION_ID LIMIT 2000",
];

/// The counts of all statements of the database, where the performance schema is on. Times are in picoseconds.
const COUNTS: &str = "SELECT DIGEST_TEXT, CAST(COUNT_STAR AS UNSIGNED), CAST(SUM_TIMER_WAIT AS UNSIGNED), \
    CAST(SUM_ROWS_SENT + SUM_ROWS_AFFECTED AS UNSIGNED) FROM performance_schema.events_statements_summary_by_digest \
    WHERE SCHEMA_NAME = DATABASE() AND DIGEST_TEXT IS NOT NULL LIMIT 5000";

/// The least time between two samples. InnoDB shows transactions as they were when no client had looked for 100 ms.
const LOCKS: Duration = Duration::from_millis(150);

/// The number of statements that are explained.
const EXPLAINED: usize = 3;

/// Calls, microseconds and rows of statements.
type Counts = HashMap<Text, (u64, f64, u64)>;

/// A connection to MySQL or MariaDB.
pub(super) struct MySqlView {
    conn: Conn,
    /// The statement that shows waits for locks; `None` if the login may not see them.
    waits: Option<&'static str>,
    before: Counts,
    /// When the sessions were last looked at.
    looked: Option<Instant>,
}

impl View for MySqlView {
    async fn connect(url: &str) -> Result<Self, String> {
        let opts = Opts::from_url(url).map_err(|_| "cannot parse the database's URL".to_owned())?;
        let mut conn = Conn::new(opts).await.map_err(words)?;
        // Each has one of these settings: MySQL in milliseconds, MariaDB in seconds.
        for limit in ["SET SESSION max_execution_time = 2000", "SET SESSION max_statement_time = 2"] {
            let _ = conn.query_drop(limit).await;
        }
        let mut waits = None;
        for view in WAITS {
            if waits.is_none() && conn.query_drop(view).await.is_ok() {
                waits = Some(view);
            }
        }
        let before = counts(&mut conn).await.unwrap_or_default();
        Ok(Self { conn, waits, before, looked: None })
    }

    async fn sample(&mut self, observed: &mut Observed) -> Result<(), String> {
        if self.looked.is_some_and(|looked| looked.elapsed() < LOCKS) {
            return Ok(());
        }
        let sessions: Vec<(i64, String)> = self.conn.query(SESSIONS).await.map_err(words)?;
        let mut waits: HashMap<i64, Vec<i64>> = HashMap::new();
        let mut statements = HashMap::new();
        if let Some(view) = self.waits.filter(|_| !sessions.is_empty()) {
            let rows: Vec<(i64, i64, Option<String>)> = self.conn.query(view).await.map_err(words)?;
            for (waiting, holding, statement) in rows {
                waits.entry(waiting).or_default().push(holding);
                statements.insert(holding, statement.as_deref().and_then(text));
            }
        }
        for (session, raw) in &sessions {
            let Some(text) = text(raw) else { continue };
            let blockers = waits.contains_key(session).then(|| {
                let holders = roots(*session, &waits).into_iter();
                let holders = holders.map(|holder| statements.get(&holder).cloned().flatten());
                holders.map(|statement| (statement.clone(), statement.is_none())).collect()
            });
            observed.session(text, raw, blockers);
        }
        observed.samples += f64::from(u8::from(!sessions.is_empty()));
        self.looked = Some(Instant::now());
        Ok(())
    }

    async fn end(&mut self, observed: &mut Observed) -> Result<(), String> {
        for (text, (calls, time, rows)) in counts(&mut self.conn).await.unwrap_or_default() {
            let (calls_before, time_before, rows_before) = self.before.get(&text).copied().unwrap_or_default();
            let Some(calls) = calls.checked_sub(calls_before).filter(|calls| *calls > 0) else { continue };
            // A digest writes names with quotation marks, so that the text of a session may differ.
            let own = observed.statements.keys().find(|own| own.is_like(text.as_str())).cloned();
            if let Some(seen) = observed.of(own.unwrap_or(text)) {
                seen.counted = Some((calls, time - time_before, rows.saturating_sub(rows_before)));
            }
        }
        for text in observed.top(EXPLAINED) {
            let Some(seen) = observed.statements.get_mut(&text) else { continue };
            if let Some(example) = seen.example.take() {
                seen.missing_index = explain::missing_index(&mut self.conn, &example).await;
            }
        }
        Ok(())
    }
}

/// Returns the statement of a text.
fn text(raw: &str) -> Option<Text> {
    sql::statements(raw.as_bytes(), Dialect::MySql, raw.len() >= 65_536).into_iter().next()
}

async fn counts(conn: &mut Conn) -> Result<Counts, Error> {
    let mut counts = Counts::new();
    for (raw, calls, picoseconds, rows) in conn.query::<(String, u64, u64, u64), _>(COUNTS).await? {
        if let Some(text) = text(&raw) {
            #[expect(clippy::cast_precision_loss, reason = "a time of some days is exact enough")]
            let microseconds = picoseconds as f64 / 1e6;
            let sum = counts.entry(text).or_default();
            sum.0 += calls;
            sum.1 += microseconds;
            sum.2 += rows;
        }
    }
    Ok(counts)
}

/// Returns an error in the database's words.
fn words(error: Error) -> String {
    match error {
        Error::Server(error) => error.message,
        error => error.to_string(),
    }
}

//! What Redis counts of its commands, and its log of slow ones.

use super::observed::Observed;
use super::view::View;
use crate::statements::normalise::Text;
use crate::statements::normalise::redis::{ARGUMENTS, command};
use redis::aio::MultiplexedConnection;
use redis::{RedisError, Value, cmd};
use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// The entries of the slow log that are read.
const SLOW: usize = 128;

/// Commands by which clients look after their connections, and those of this login.
const OWN: [&str; 8] = ["auth", "client", "command", "hello", "info", "ping", "select", "slowlog"];

/// Calls and microseconds of commands, by their names as Redis has them.
type Counts = HashMap<String, (u64, u64)>;

/// A connection to Redis.
pub(super) struct RedisView {
    connection: MultiplexedConnection,
    before: Counts,
    began: u64,
}

impl View for RedisView {
    async fn connect(url: &str) -> Result<Self, String> {
        let client = redis::Client::open(url).map_err(|_| "cannot parse the database's URL".to_owned())?;
        let mut connection = client.get_multiplexed_async_connection().await.map_err(words)?;
        let before = counts(&mut connection).await.map_err(words)?;
        let began = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        Ok(Self { connection, before, began })
    }

    async fn sample(&mut self, _observed: &mut Observed) -> Result<(), String> {
        // Redis counts, so that there is nothing to sample.
        Ok(())
    }

    async fn end(&mut self, observed: &mut Observed) -> Result<(), String> {
        let slow = self.slow().await.unwrap_or_default();
        for (name, (calls, time)) in counts(&mut self.connection).await.map_err(words)? {
            let (calls_before, time_before) = self.before.get(&name).copied().unwrap_or_default();
            let Some(calls) = calls.checked_sub(calls_before).filter(|calls| *calls > 0) else { continue };
            if OWN.iter().any(|own| name.split('|').next() == Some(own)) {
                continue;
            }
            #[expect(clippy::cast_precision_loss, reason = "a time of some days is exact enough")]
            let (calls_seen, time) = (calls as f64, time.saturating_sub(time_before) as f64);
            let words: Vec<&[u8]> = name.split('|').map(str::as_bytes).collect();
            let mut text = command(&words[..words.len().min(ARGUMENTS)], false);
            // The slow log has keys, of which the prefix can be shown where most of the time went to it.
            if let Some((slow, _)) = slow.iter().find(|(slow, spent)| slow.begins_with(&text) && **spent * 2.0 > time) {
                text = slow.clone();
            }
            observed.samples += calls_seen;
            if let Some(seen) = observed.of(text) {
                seen.active += time;
                seen.counted = Some((calls, time, 0));
            }
        }
        Ok(())
    }
}

impl RedisView {
    /// Returns the microseconds of each slow command since the watch began.
    async fn slow(&mut self) -> Result<HashMap<Text, f64>, RedisError> {
        let entries: Vec<Vec<Value>> = cmd("SLOWLOG").arg("GET").arg(SLOW).query_async(&mut self.connection).await?;
        let mut slow = HashMap::new();
        for entry in entries {
            let [_, Value::Int(at), Value::Int(time), Value::Array(arguments), ..] = &entry[..] else { continue };
            if at.unsigned_abs() < self.began {
                continue;
            }
            let words = arguments.iter().take(ARGUMENTS).filter_map(|argument| match argument {
                Value::BulkString(bytes) => Some(&bytes[..]),
                _ => None,
            });
            let text = command(&words.collect::<Vec<_>>(), arguments.len() > ARGUMENTS);
            #[expect(clippy::cast_precision_loss, reason = "a time of some days is exact enough")]
            let time = *time as f64;
            *slow.entry(text).or_default() += time;
        }
        Ok(slow)
    }
}

async fn counts(connection: &mut MultiplexedConnection) -> Result<Counts, RedisError> {
    let info: String = cmd("INFO").arg("commandstats").query_async(connection).await?;
    Ok(parse(&info))
}

/// Reads lines such as `cmdstat_get:calls=5,usec=9,...`.
fn parse(info: &str) -> Counts {
    let line = |line: &str| {
        let (name, fields) = line.strip_prefix("cmdstat_")?.split_once(':')?;
        let field = |wanted: &str| {
            let mut fields = fields.split(',').filter_map(|field| field.trim().split_once('='));
            fields.find(|(name, _)| *name == wanted).and_then(|(_, value)| value.parse().ok())
        };
        Some((name.to_owned(), (field("calls")?, field("usec")?)))
    };
    info.lines().filter_map(line).collect()
}

/// Returns an error in the database's words.
fn words(error: RedisError) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn counts_are_read() {
        let info = "# Commandstats\r\ncmdstat_get:calls=5,usec=9,usec_per_call=1.80\r\ncmdstat_client|id:calls=1,usec=2\r\nx\r\n";
        let counts = parse(info);
        assert_eq!((counts.len(), counts["get"], counts["client|id"]), (2, (5, 9), (1, 2)));
    }
}

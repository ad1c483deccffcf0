//! What the load generators say they did: the count of requests, read from each one's output.

use std::str::FromStr;

use serde_json::Value;

/// What a load generator says it did.
pub struct Tally {
    /// Requests answered.
    pub requests: u64,
    /// Requests or connections that failed.
    pub failed: u64,
    /// What only the floor tells.
    pub floor: Option<FloorTally>,
    /// 99th percentile of the time by which requests were sent after they were due, in microseconds, where the tool tells.
    pub send_lag_p99_us: Option<f64>,
}

/// What the floor's client tells beside its count.
pub struct FloorTally {
    /// Bytes received.
    pub bytes: u64,
    /// CPU time in microseconds per request, up to the end of its loop.
    pub cpu_us_per_request: f64,
}

/// The number right before this text.
fn number_before<N: FromStr>(text: &str, mark: &str) -> Option<N> {
    let head = &text[..text.find(mark)?];
    head.split_whitespace().next_back()?.parse().ok()
}

/// The number right after this text.
fn number_after<N: FromStr>(text: &str, mark: &str) -> Option<N> {
    text[text.find(mark)? + mark.len()..].split_whitespace().next()?.parse().ok()
}

/// Reads the output of the floor's client.
pub fn floor(out: &str) -> Option<Tally> {
    Some(Tally {
        requests: number_before(out, " requests,")?,
        failed: number_before(out, " failed")?,
        floor: Some(FloorTally {
            bytes: number_before(out, " bytes")?,
            cpu_us_per_request: number_before(out, " CPU us/request")?,
        }),
        send_lag_p99_us: None,
    })
}

/// Returns how many requests or connections failed in a JSON result that has `errors` by kind.
pub fn failed(result: &Value) -> Option<u64> {
    Some(result["errors"].as_object()?.values().filter_map(Value::as_u64).sum())
}

/// Reads the output of `torr --json -`.
pub fn torr(out: &str) -> Option<Tally> {
    let result: Value = serde_json::from_str(out).ok()?;
    let failed = failed(&result)?;
    let send_lag_p99_us = result["generator"]["send_lag_p99_us"].as_f64();
    Some(Tally { requests: result["requests"].as_u64()?, failed, floor: None, send_lag_p99_us })
}

/// Reads the output of `torr --json -` where sessions are to be resumed: a full handshake is a failure.
pub fn torr_resumed(out: &str) -> Option<Tally> {
    let result: Value = serde_json::from_str(out).ok()?;
    let tally = torr(out)?;
    Some(Tally { failed: tally.failed + result["tls"]["full"].as_u64()?, ..tally })
}

/// Reads the output of wrk.
pub fn wrk(out: &str) -> Option<Tally> {
    // Both lines are there only if there is something to tell. A server's close is not among the socket errors.
    let status = number_after(out, "Non-2xx or 3xx responses:").unwrap_or(0);
    let socket = out.lines().find_map(|line| line.trim().strip_prefix("Socket errors:")).unwrap_or_default();
    let socket: u64 = socket.split([' ', ',']).filter_map(|word| word.parse::<u64>().ok()).sum();
    Some(Tally {
        requests: number_before(out, " requests in ")?,
        failed: status + socket,
        floor: None,
        send_lag_p99_us: None,
    })
}

/// Reads the output of ab.
pub fn ab(out: &str) -> Option<Tally> {
    let failed = number_after::<u64>(out, "Failed requests:")? + number_after(out, "Non-2xx responses:").unwrap_or(0);
    Some(Tally { requests: number_after(out, "Complete requests:")?, failed, floor: None, send_lag_p99_us: None })
}

/// Reads the JSON output of oha.
pub fn oha(out: &str) -> Option<Tally> {
    let result: Value = serde_json::from_str(out).ok()?;
    let sum = |field: &str, wanted: fn(&str) -> bool| {
        let entries = result[field].as_object()?.iter();
        Some(entries.filter(|(key, _)| wanted(key)).filter_map(|(_, n)| n.as_u64()).sum::<u64>())
    };
    // Requests cut off by the end of the run are in the error distribution, but are no failures.
    let errors = sum("errorDistribution", |error| !error.contains("deadline"))?;
    let requests = sum("statusCodeDistribution", |_| true)?;
    Some(Tally {
        requests,
        failed: errors + requests - sum("statusCodeDistribution", |s| s == "200")?,
        floor: None,
        send_lag_p99_us: None,
    })
}

/// Reads the output of h2load, of HTTP/1.1 and HTTP/2 alike.
pub fn h2load(out: &str) -> Option<Tally> {
    let line = out.lines().find(|line| line.starts_with("requests:"))?;
    // Errored are those without a response; they are among the done and the failed, beside responses with a bad status.
    let (done, errored): (u64, u64) = (number_before(line, " done")?, number_before(line, " errored")?);
    let failed = number_before::<u64>(line, " failed")? + number_before::<u64>(line, " timeout")?;
    Some(Tally { requests: done.checked_sub(errored)?, failed, floor: None, send_lag_p99_us: None })
}

/// Reads the output of hey.
pub fn hey(out: &str) -> Option<Tally> {
    // "  [200]<tab>12345 responses", one line per status; errors are shown as "  [7]<tab>what happened".
    let (mut requests, mut failed) = (0, 0);
    for line in out.lines().filter_map(|line| line.trim().strip_prefix('[')) {
        let (key, rest) = line.split_once(']')?;
        match number_before::<u64>(rest, " responses") {
            Some(n) => (requests, failed) = (requests + n, failed + if key == "200" { 0 } else { n }),
            None => failed += key.parse().unwrap_or(0),
        }
    }
    (requests > 0).then_some(Tally { requests, failed, floor: None, send_lag_p99_us: None })
}

/// Reads the JSON output of gcannon.
pub fn gcannon(out: &str) -> Option<Tally> {
    let result: Value = serde_json::from_str(out).ok()?;
    let requests = result["responses"].as_u64()?;
    let failed = failed(&result)? + requests.checked_sub(result["status"]["2xx"].as_u64()?)?;
    Some(Tally { requests, failed, floor: None, send_lag_p99_us: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(tally: Option<Tally>) -> Option<(u64, u64)> {
        tally.map(|tally| (tally.requests, tally.failed))
    }

    #[test]
    fn counts_are_read_from_what_the_tools_print() {
        let out = "190000 requests/s, 5.000 CPU us/request, 0.95 of a CPU, 380000 requests, 2 failed, 570000 bytes\n";
        assert_eq!(counts(floor(out)), Some((380_000, 2)));
        assert_eq!(
            floor(out).and_then(|tally| tally.floor).map(|f| (f.bytes, f.cpu_us_per_request)),
            Some((570_000, 5.0))
        );
        let out = r#"{"schema":"torr.run/1","requests":12345,"errors":{"connect":1,"timeout":2}}"#;
        assert_eq!(counts(torr(out)), Some((12_345, 3)));
        let out = r#"{"requests":100,"errors":{"timeout":2},"tls":{"full":20,"resumed":80}}"#;
        assert_eq!(counts(torr_resumed(out)), Some((100, 22)));
        let out = "Running 2s test @ http://127.0.0.1:9390/\n  132042 requests in 2.10s, 22.16MB read\n\
                   \x20 Socket errors: connect 0, read 5, write 0, timeout 7\n  Non-2xx or 3xx responses: 10\n";
        assert_eq!(counts(wrk(out)), Some((132_042, 22)));
        let out = "Complete requests:      99342\nFailed requests:        3\n   (Connect: 0, Receive: 0, Length: 3)\n";
        assert_eq!(counts(ab(out)), Some((99_342, 3)));
        let out =
            r#"{"statusCodeDistribution":{"200":70,"500":2},"errorDistribution":{"aborted due to deadline":9,"x":1}}"#;
        assert_eq!(counts(oha(out)), Some((72, 3)));
        let out = "finished in 1.00s, 59385.00 req/s, 9.46MB/s\nrequests: 59385 total, 59485 started, 59385 done, \
                   59380 succeeded, 5 failed, 5 errored, 1 timeout\n";
        assert_eq!(counts(h2load(out)), Some((59_380, 6)));
        let out = "Status code distribution:\n  [200]\t21000 responses\n  [503]\t4 responses\n\n\
                   Error distribution:\n  [7]\tGet http://127.0.0.1/: EOF\n";
        assert_eq!(counts(hey(out)), Some((21_004, 11)));
    }

    /// A server that ends its connections after 1,000 requests each, which h2load does not open again.
    #[test]
    fn h2load_counts_streams_without_a_response_as_done() {
        let out = "progress: 100% of clients started\nTLS Protocol: TLSv1.3\nCipher: TLS_AES_256_GCM_SHA384\n\
                   Server Temp Key: X25519 253 bits\nApplication protocol: h2\nProcess Request Failure:2\n\
                   Stopped all clients for thread #0\n\nfinished in 1.00s, 5000.00 req/s, 332.35KB/s\n\
                   requests: 5033 total, 5045 started, 5033 done, 5000 succeeded, 33 failed, 33 errored, 0 timeout\n\
                   status codes: 5000 2xx, 0 3xx, 0 4xx, 0 5xx\n\
                   traffic: 332.35KB (340330) total, 234.38KB (240000) headers (space savings 51.02%)\n";
        assert_eq!(counts(h2load(out)), Some((5_000, 33)));
        let out = "requests: 70 total, 80 started, 70 done, 0 succeeded, 70 failed, 0 errored, 0 timeout\n\
                   status codes: 0 2xx, 0 3xx, 70 4xx, 0 5xx\n";
        assert_eq!(counts(h2load(out)), Some((70, 70)));
    }

    #[test]
    fn no_count_is_no_tally() {
        for read in [floor, torr, wrk, ab, oha, h2load, hey] {
            assert!(read("").is_none());
            assert!(read("cannot connect").is_none());
        }
    }
}

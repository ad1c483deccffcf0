//! A client of your own, measured as Torr measures: PING to a Redis server, 1000 times per second for two seconds.
//! `cargo run --release --example embed-gauge -p torr-gauge [ADDRESS] > ping.json`, then `torr report ping.json`.

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant, SystemTime};
use torr_gauge::collector::{Collector, RunFacts};
use torr_gauge::generator::ThreadMeter;
use torr_gauge::result::PlanSummary;
use torr_gauge::{Failure, FailureKind, FailureSide, RunResult, Sample};

const REQUESTS: u32 = 2000;
const RATE: u32 = 1000;
const INTERVAL: Duration = Duration::from_secs(1);
const TIMEOUT: Duration = Duration::from_secs(5);

/// Sends a command and reads its reply.
fn ping(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(b"PING\r\n")?;
    let mut reply = [0; 7];
    stream.read_exact(&mut reply)?;
    if reply == *b"+PONG\r\n" { Ok(()) } else { Err(io::Error::other("the reply is not PONG")) }
}

fn connect(address: &str) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    Ok(stream)
}

fn measure(address: &str) -> Result<RunResult, Box<dyn Error>> {
    let mut stream = connect(address)?;
    // One thread hands over a sample per interval. With several, each has its own number.
    let mut collector = Collector::new(1, INTERVAL);
    let (mut sample, mut intervals) = (Sample::default(), 0);
    let (started_at, began, meter) = (SystemTime::now(), Instant::now(), ThreadMeter::start());
    sample.opened = 1;
    let mut idle = Duration::ZERO;
    for n in 0..REQUESTS {
        let due = began + Duration::from_secs(1) * n / RATE;
        let early = due.saturating_duration_since(Instant::now());
        thread::sleep(early);
        idle += early;
        sample.lag.record(due.elapsed().as_nanos() as u64);
        match ping(&mut stream) {
            // From when it was due: what waited behind a slow reply counts its waiting as well.
            Ok(()) => sample.answered.record(due.elapsed().as_nanos() as u64),
            Err(error) => {
                let failure = Failure::new(FailureKind::Read, FailureSide::Server, error.to_string());
                sample.failures.count(failure);
                stream = connect(address)?;
                sample.opened += 1;
            }
        }
        if began.elapsed() >= INTERVAL * (intervals + 1) {
            sample.open = 1;
            collector.take(0, intervals.into(), &std::mem::take(&mut sample), false);
            intervals += 1;
        }
    }
    collector.take(0, intervals.into(), &sample, true);
    let facts = RunFacts {
        target: format!("redis://{address}"),
        plan: PlanSummary {
            connections: 1,
            threads: Some(1),
            requests: Some(REQUESTS.into()),
            rate: Some(RATE.into()),
            keep_alive: true,
            timeout_s: TIMEOUT.as_secs_f64(),
            ..PlanSummary::default()
        },
        started_at: humantime::format_rfc3339_millis(started_at).to_string(),
        duration: began.elapsed(),
        started: REQUESTS.into(),
        peak: Some(1),
        threads: vec![meter.read(idle)],
        ..RunFacts::default()
    };
    Ok(collector.finish(facts).result)
}

fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:6379".into());
    let result = measure(&address)?;
    println!("{}", serde_json::to_string_pretty(&result)?);
    Ok(())
}

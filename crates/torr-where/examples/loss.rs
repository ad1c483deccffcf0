//! Measures what a survey costs a service: `loss PID HOST:PORT PATH RESOURCE PAIRS [DATABASE] [inside]`. The same load runs in turns with
//! and without a survey, and the throughput of each pair is compared. DATABASE is the address of a PostgreSQL, MySQL or Redis whose
//! statements are read as well. With `inside` processes are opened, functions named and packets decoded while the load runs.

use rustix::time::{ClockId, clock_gettime};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use torr_where::statements::{Database, Setup, Watch};
use torr_where::{PreparedSurvey, Resource, Survey};

/// The connections of the load.
const CONNECTIONS: usize = 16;
/// The load before the measured time, the measured time, and the part of it that is sampled, as those of a diagnosis.
const WARMUP: Duration = Duration::from_millis(400);
const LENGTH: Duration = Duration::from_secs(4);
const SAMPLED: Duration = Duration::from_millis(3700);

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |at: usize| words.get(at).map(String::as_str).unwrap_or_default();
    let process = word(0).parse::<i32>();
    let resource = serde_json::from_value::<Resource>(word(3).into());
    let (Ok(process), Ok(resource), Ok(pairs)) = (process, resource, word(4).parse::<usize>()) else {
        eprintln!("usage: loss PID HOST:PORT PATH RESOURCE PAIRS [DATABASE]");
        std::process::exit(2);
    };
    let database: Option<SocketAddr> = words.get(5).and_then(|address| address.parse().ok());
    let is_inside = words.last().is_some_and(|last| last == "inside");
    let mut kept: Vec<f64> = (0..pairs)
        .map(|_| {
            let (plain, _) = throughput(word(1), word(2), |_| ());
            let survey = Survey::of(vec![process], resource, SAMPLED);
            let sampled = sampled(word(1), word(2), &survey, watch(process, database), is_inside);
            println!("{plain:.1}/s, sampled {sampled:.1}/s: {:.3}", sampled / plain);
            sampled / plain
        })
        .collect();
    kept.sort_by(f64::total_cmp);
    if let (Some(least), Some(median)) = (kept.first(), kept.get(kept.len() / 2)) {
        println!("kept: median {median:.3}, least {least:.3} of {pairs} pairs");
    }
}

/// Returns what begins to watch the statements for a database.
fn watch(process: i32, database: Option<SocketAddr>) -> impl Fn() -> Option<Watch> {
    move || {
        let server = database?;
        let kind = Database::guess(server.port(), None)?;
        Some(Watch::start(Setup { database: kind, server: server.into(), processes: vec![process], login: None }))
    }
}

/// Returns the throughput of the load while a process is sampled, and writes what that took and found.
fn sampled(host: &str, path: &str, survey: &Survey, watch: impl Fn() -> Option<Watch>, is_inside: bool) -> f64 {
    let before = computed();
    let mut prepared = (!is_inside).then(|| survey.prepare());
    let opened = computed();
    let (rate, (watch, inside)) = throughput(host, path, |stop| {
        let watch = watch();
        match &mut prepared {
            Some(prepared) => {
                prepared.sample(stop);
                watch.iter().for_each(Watch::stop);
                (watch, None)
            }
            None => {
                let found = survey.run(stop);
                watch.map(|watch| watch.finish(|_| 1));
                (None, Some(found))
            }
        }
    });
    let sampled = computed();
    let found = inside.or_else(|| prepared.map(PreparedSurvey::localise)).unwrap_or_default();
    let statements = watch.map(|watch| watch.finish(|time| (rate * time.as_secs_f64()) as u64));
    let ms = |time: Duration| time.as_millis();
    println!(
        "  CPU: {} ms to open, {} ms to name; {:?}; {:?}",
        ms(opened - before),
        ms(computed() - sampled),
        found.places.first().map(|place| (place.frame.as_ref().map(|frame| frame.function.clone()), place.share.value)),
        statements.map(|found| (found.calls, found.cpu_s, found.places.first().map(|place| place.statement.clone())))
    );
    rate
}

/// Returns the responses per second of a load while `work` is done, with what it returns.
fn throughput<T>(host: &str, path: &str, work: impl FnOnce(&AtomicBool) -> T) -> (f64, T) {
    let (stop, responses) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..CONNECTIONS {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    // A connection that the service closes is opened again.
                    let _ = exchange(host, path, &stop, &responses);
                }
            });
        }
        thread::sleep(WARMUP);
        let (began, before) = (Instant::now(), responses.load(Ordering::Relaxed));
        let done = work(&AtomicBool::new(false));
        thread::sleep(LENGTH.saturating_sub(began.elapsed()));
        let count = responses.load(Ordering::Relaxed) - before;
        let rate = count as f64 / began.elapsed().as_secs_f64();
        stop.store(true, Ordering::Relaxed);
        (rate, done)
    })
}

/// Sends requests over one connection until the load ends.
fn exchange(host: &str, path: &str, stop: &AtomicBool, responses: &AtomicU64) -> std::io::Result<()> {
    let mut connection = TcpStream::connect(host)?;
    connection.set_nodelay(true)?;
    let mut reader = BufReader::new(connection.try_clone()?);
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
    while !stop.load(Ordering::Relaxed) {
        connection.write_all(request.as_bytes())?;
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().map_err(std::io::Error::other)?;
            }
            if line == "\r\n" {
                break;
            }
        }
        std::io::copy(&mut reader.by_ref().take(length), &mut std::io::sink())?;
        responses.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

/// Returns the CPU time of this process.
fn computed() -> Duration {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
}

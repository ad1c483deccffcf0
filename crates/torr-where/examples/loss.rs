//! Measures what a survey costs a service: `loss PID HOST:PORT PATH RESOURCE PAIRS [DATABASE] [inside]`. The same load runs in turns with
//! and without a survey, and the CPU time of a response is compared, the sampler's own included: on a saturated machine throughput is its
//! inverse, also beside other programs, which disturb the throughput itself. DATABASE is the address of a PostgreSQL, MySQL or Redis whose
//! statements are read as well. With `inside` processes are opened, functions named and packets decoded while the load runs.

use rustix::time::{ClockId, clock_gettime};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use torr_where::runtime::process::cpu_time;
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
            let cost = || cpu_time(process, None).unwrap_or_default();
            let before = cost();
            let (plain, _) = throughput(word(1), word(2), |_| ());
            let without = (cost() - before).as_secs_f64() / plain.count;
            let survey = Survey::of(vec![process], resource, SAMPLED);
            let before = cost();
            let (sampled, own) = sampled(word(1), word(2), &survey, watch(process, database), is_inside);
            let with = ((cost() - before) + own).as_secs_f64() / sampled.count;
            println!(
                "{:.1}/s, sampled {:.1}/s; {:.1} us a response, sampled {:.1} us, {} ms of them the sampler's: {:.3}",
                plain.rate,
                sampled.rate,
                without * 1e6,
                with * 1e6,
                own.as_millis(),
                without / with
            );
            without / with
        })
        .collect();
    kept.sort_by(f64::total_cmp);
    if let (Some(least), Some(median)) = (kept.first(), kept.get(kept.len() / 2)) {
        println!("kept: median {median:.3}, least {least:.3} of {pairs} pairs");
    }
}

/// The responses of a load, all of them and those of a second.
#[derive(Debug, Clone, Copy)]
struct Responses {
    count: f64,
    rate: f64,
}

/// Returns what begins to watch the statements for a database.
fn watch(process: i32, database: Option<SocketAddr>) -> impl Fn() -> Option<Watch> {
    move || {
        let server = database?;
        let kind = Database::guess(server.port(), None)?;
        Some(Watch::start(Setup { database: kind, server: server.into(), processes: vec![process], login: None }))
    }
}

/// Returns the responses of the load while a process is sampled with the CPU time of the sampler, and writes what was found.
fn sampled(
    host: &str,
    path: &str,
    survey: &Survey,
    watch: impl Fn() -> Option<Watch>,
    is_inside: bool,
) -> (Responses, Duration) {
    let before = computed();
    let mut prepared = (!is_inside).then(|| survey.prepare());
    let opened = computed();
    let (responses, (watch, inside, own)) = throughput(host, path, |stop| {
        let watch = watch();
        match &mut prepared {
            Some(prepared) => {
                prepared.sample(stop);
                watch.iter().for_each(Watch::stop);
                (watch, None, samplers())
            }
            None => {
                let mut prepared = survey.prepare();
                prepared.sample(stop);
                let own = samplers();
                let before = computed();
                let found = prepared.localise();
                watch.map(|watch| watch.finish(|_| 1));
                // The load's own CPU time in the time of naming is little.
                (None, Some(found), own + (computed() - before))
            }
        }
    });
    let sampled = computed();
    let found = inside.or_else(|| prepared.map(PreparedSurvey::localise)).unwrap_or_default();
    let statements = watch.map(|watch| watch.finish(|time| (responses.rate * time.as_secs_f64()) as u64));
    let ms = |time: Duration| time.as_millis();
    println!(
        "  {} ms of CPU time to open, {} ms to name and decode; {:?}; {:?}",
        ms(opened - before),
        ms(computed() - sampled),
        found.places.first().map(|place| (place.frame.as_ref().map(|frame| frame.function.clone()), place.share.value)),
        statements.as_ref().map(|found| (
            found.calls,
            found.cpu_s,
            found.places.first().map(|place| place.statement.clone())
        ))
    );
    let capture = statements.map_or(0.0, |found| found.cpu_s);
    (responses, own + Duration::from_secs_f64(capture))
}

/// Returns the CPU time that the threads of surveys have taken.
fn samplers() -> Duration {
    let own = std::process::id();
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let is_one = |task: &i32| {
        let name = std::fs::read_to_string(format!("/proc/{own}/task/{task}/comm"));
        name.is_ok_and(|name| name.trim_end() == "torr-survey")
    };
    let used = |task: i32| {
        let text = std::fs::read_to_string(format!("/proc/{own}/task/{task}/schedstat")).ok()?;
        Some(Duration::from_nanos(text.split(' ').next()?.parse().ok()?))
    };
    let tasks = tasks.filter_map(|task| task.file_name().to_str()?.parse().ok()).filter(is_one);
    tasks.filter_map(used).sum()
}

/// Returns the responses per second of a load while `work` is done, with what it returns.
fn throughput<T>(host: &str, path: &str, work: impl FnOnce(&AtomicBool) -> T) -> (Responses, T) {
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
        let (count, time) = (responses.load(Ordering::Relaxed), began.elapsed());
        stop.store(true, Ordering::Relaxed);
        (Responses { count: count as f64, rate: (count - before) as f64 / time.as_secs_f64() }, done)
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

//! What virtual users cost: the time until the test starts, the memory of a user, and the CPU time of a request. A line for one user and one
//! for USERS.
//!
//!     cargo run --release -p torr-k6 --example cost -- USERS [SECONDS]
//!
//! The server, and each of the two loads, is a process of its own: this program with other arguments.

use rustix::time::{ClockId, clock_gettime};
use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use torr_k6::run::{RunSettings, ScriptSource, Test};
use torr_k6::shared::RunShared;
use torr_k6::summary::data::Values;

/// The time in seconds between the two readings, unless an argument sets it.
const SECONDS: u64 = 5;
/// The time from the start of the test to the first reading, in which all connections are made.
const WARM_UP: Duration = Duration::from_secs(2);
/// The time in seconds for which the test still runs after the second reading.
const MARGIN: u64 = 2;
const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok";

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["serve"] => serve(),
        ["load", url, users, seconds] => load(url, users.parse()?, seconds.parse()?),
        [users] => compare(users.parse()?, SECONDS),
        [users, seconds] => compare(users.parse()?, seconds.parse()?),
        _ => Err("usage: cost USERS [SECONDS]".into()),
    }
}

/// Measures one user and then as many as wanted. Each load is a new process, whose memory no other load has used.
fn compare(users: u64, seconds: u64) -> Result<(), Failure> {
    let program = std::env::current_exe()?;
    let mut server = Command::new(&program).arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut url = String::new();
    BufReader::new(server.stdout.take().expect("it was piped")).read_line(&mut url)?;
    for users in [1, users] {
        let words = ["load", url.trim(), &users.to_string(), &seconds.to_string()];
        if !Command::new(&program).args(words).status()?.success() {
            return Err(format!("the load of {users} users failed").into());
        }
    }
    drop(server.stdin.take());
    server.wait()?;
    Ok(())
}

/// Prints the URL of a server, and serves until the standard input ends.
fn serve() -> Result<(), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("http://{}/", listener.local_addr()?);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let respond = move || {
                let mut request = [0; 4096];
                while stream.read(&mut request).is_ok_and(|read| read > 0) && stream.write_all(RESPONSE).is_ok() {}
            };
            thread::Builder::new().stack_size(64 * 1024).spawn(respond).expect("a thread for each user is available");
        }
    });
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}

/// Loads the server and prints the cost.
fn load(url: &str, users: u64, seconds: u64) -> Result<(), Failure> {
    let script = format!(
        "import http from 'k6/http'; import {{check}} from 'k6';
         export const options = {{scenarios: {{s: {{executor: 'constant-vus', vus: {users}, duration: '{}s'}}}}}};
         export default function () {{ const res = http.get(__ENV.URL); check(res, {{'is ok': r => r.status === 200}}); }}",
        WARM_UP.as_secs() + seconds + MARGIN
    );
    let script = ScriptSource::Text(script.into_bytes());
    let settings = RunSettings {
        script,
        env: [("URL".to_owned(), url.to_owned())].into(),
        threads: Some(1),
        ..RunSettings::default()
    };
    let (memory_before, begun) = (memory()?, Instant::now());
    let test = Test::load(settings, None, |_| Err("the script has no modules from other machines".to_owned()))?;
    let run = test.shared().clone();
    let measuring = thread::spawn(move || measure(&run, Duration::from_secs(seconds)));
    let end = test.run(|_| {})?;
    let cost = measuring.join().expect("it has not panicked")?;
    match end.summary.metrics.get("checks").map(|checks| &checks.values) {
        Some(Values::Rate { rate: 1.0, .. }) => {}
        checks => return Err(format!("some responses were not as expected: {checks:?}").into()),
    }
    println!(
        "{users} users: {:.3} s to start, {} KiB for each user, {} requests in {:.3} s, {:.2} us of CPU time for each",
        (cost.started - begun).as_secs_f64(),
        cost.memory.saturating_sub(memory_before) / 1024 / users,
        cost.requests,
        cost.elapsed.as_secs_f64(),
        cost.cpu.as_secs_f64() * 1e6 / cost.requests as f64,
    );
    Ok(())
}

/// What a load cost between two readings.
struct Cost {
    /// When the clock of the test started, with all users ready.
    started: Instant,
    /// The resident memory in bytes at the second reading.
    memory: u64,
    /// The complete iterations between the readings, each of which has one request.
    requests: u64,
    cpu: Duration,
    elapsed: Duration,
}

/// Reads the clocks and counts of a test twice. Each user that has a request in flight at the first reading has one at the second too.
fn measure(run: &RunShared, time: Duration) -> Result<Cost, Failure> {
    let started = loop {
        match run.started.get() {
            Some(started) => break *started,
            None => thread::sleep(Duration::from_millis(5)),
        }
    };
    let conductor = run.conductor.get().ok_or("the test has no conductor")?;
    let read = || (conductor.counts().complete, cpu(), Instant::now());
    thread::sleep(WARM_UP);
    let first = read();
    thread::sleep(time);
    let second = read();
    let memory = memory()?;
    if conductor.is_over() || second.0 == first.0 {
        return Err("the test did not run between the two readings".into());
    }
    let (requests, cpu, elapsed) = (second.0 - first.0, second.1 - first.1, second.2 - first.2);
    Ok(Cost { started, memory, requests, cpu, elapsed })
}

/// Returns the CPU time of this process, in user space and in the kernel, by all its threads.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Returns the resident memory of this process in bytes, counted page by page: the figure of `status` is an estimate.
fn memory() -> Result<u64, Failure> {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup")?;
    let line = text.lines().find_map(|line| line.strip_prefix("Rss:")).ok_or("smaps_rollup has no resident memory")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
}

//! A load from a program of your own: 500 requests per second for two seconds, and what came of them.
//! `cargo run --release --example embed-press -p torr-press [URL]`

use std::error::Error;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use torr_gauge::RunResult;
use torr_net::address;
use torr_press::{Arrivals, Pace, Plan, Requests, Schedule, Target};

/// Loads a URL in an open loop: each request is due at its own time, whatever the server does with those before it.
fn load(url: &str) -> Result<RunResult, Box<dyn Error>> {
    let target = Target::parse(url)?;
    let addresses = address::resolve(&target.host, target.port)?;
    let request = Requests::get(&target, true)?;
    let plan = Plan {
        connections: 50,
        threads: 1,
        pace: Pace::Open(Schedule::constant(500.0)?, Arrivals::Poisson),
        duration: Some(Duration::from_secs(2)),
        ..Plan::new(target, addresses.into_iter().map(Into::into).collect(), request)
    };
    // Another thread may set it to end the run early; the result says then that it was interrupted.
    let stop = AtomicBool::new(false);
    let run = torr_press::run(&plan, &stop, |progress| eprintln!("{} responses so far", progress.requests))?;
    Ok(run.result)
}

fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).unwrap_or("http://127.0.0.1:8080/".into());
    let result = load(&url)?;
    println!("{} responses, {:.0} per second", result.requests, result.rps);
    // Response times count from when a request was due, in microseconds.
    if let Some(times) = &result.latency_us {
        println!("99% within {} us", times.p99.unwrap_or(times.max));
    }
    for cause in &result.causes {
        println!("{} failed: {}", cause.count, cause.what);
    }
    Ok(())
}

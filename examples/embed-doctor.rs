//! A diagnosis from a program of your own: what limits a service that you may load for ten seconds.
//! `cargo run --release --example embed-doctor -p torr-doctor [URL]`

use std::error::Error;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use torr_doctor::{Assignment, Diagnosis, Instruments, Invocation, Observer, diagnose};
use torr_net::address;
use torr_press::request::Options;
use torr_press::{Plan, Requests, Target};

fn examine(url: &str) -> Result<Diagnosis, Box<dyn Error>> {
    let target = Target::parse(url)?;
    let addresses = address::resolve(&target.host, target.port)?;
    let options = Options { keep_alive: true, ..Options::default() };
    let requests = Requests::new(&[target.clone().into()], &options)?;
    let plan = Plan { connections: 50, ..Plan::new(target, addresses.into_iter().map(Into::into).collect(), requests) };
    // Counts the CPU time of the server, and sees what its threads wait for, if it runs on this machine.
    let watcher = plan.watcher();
    let instruments =
        Instruments { observer: watcher.as_ref().map(|watcher| watcher as &dyn Observer), ..Instruments::default() };
    let assignment = Assignment {
        plan,
        options,
        // Commands that the advice prints begin with it.
        again: Invocation { url: Some(url.into()), ..Invocation::default() },
        budget: Duration::from_secs(10),
        max_rate: None,
        max_connections: 200,
    };
    let stop = AtomicBool::new(false);
    let diagnosis = diagnose(&assignment, &instruments, &stop, &mut |experiment| {
        eprintln!("{:.0}% of the budget is spent", 100.0 * experiment.spent);
    })?;
    Ok(diagnosis)
}

fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).unwrap_or("http://127.0.0.1:8080/".into());
    let diagnosis = examine(&url)?;
    println!(
        "{} ({}), after {} experiments",
        diagnosis.finding.factor,
        diagnosis.finding.confidence,
        diagnosis.trail.len()
    );
    // Facts are data. The program `torr` makes its sentences of them in torr-report.
    for fact in &diagnosis.finding.because {
        println!("{}", serde_json::to_string(fact)?);
    }
    Ok(())
}

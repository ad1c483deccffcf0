//! As many agents as wanted in one process, which load nothing and send what real ones would: for the cost of a
//! coordinator.
//!
//!     cargo run --release -p torr-fleet --example simulated_agents -- nats://127.0.0.1:4222 1000

use async_nats::Client;
use futures_util::StreamExt;
use std::rc::Rc;
use std::time::{Duration, Instant};
use torr_fleet::FleetName;
use torr_fleet::message::{End, Facts, Hello, Interval, Message, Own, SampleText, VERSION};
use torr_gauge::Sample;

/// Requests per second of each agent.
const REQUESTS: u64 = 1000;
/// The length of the simulated plan in seconds.
const SECONDS: u64 = 10;

/// A sample for each second.
type Samples = Vec<SampleText>;
type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let mut words = std::env::args().skip(1);
    let (Some(url), Some(agents)) = (words.next(), words.next().and_then(|count| count.parse().ok())) else {
        return Err("usage: simulated_agents NATS-URL AGENTS".into());
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    tokio::task::LocalSet::new().block_on(&runtime, simulate(&url, agents))
}

async fn simulate(url: &str, agents: usize) -> Result<(), Failure> {
    let client = async_nats::connect(url).await?;
    let mut calls = client.subscribe("torr.default.call").await?;
    let mut own = client.subscribe("torr.default.agent.*").await?;
    let began = Instant::now();
    eprintln!("{agents} agents");
    // Made before, so that the simulation costs little.
    let samples: Rc<Samples> = Rc::new((0..SECONDS).map(|_| SampleText::of(&sample(REQUESTS))).collect());
    loop {
        tokio::select! {
            Some(call) = calls.next() => {
                let Some(reply) = call.reply else { continue };
                for number in 0..agents {
                    let hello = Hello {
                        agent: name(number),
                        torr: VERSION.into(),
                        machine: String::new(),
                        cores: 1,
                        ceiling: 1.0,
                        allow: vec!["nothing".into()],
                        run: None,
                    };
                    client.publish(reply.clone(), Message::Hello(hello).encode()).await?;
                }
            }
            Some(message) = own.next() => {
                let agent = message.subject.rsplit('.').next().unwrap_or_default().to_owned();
                let response = match Message::decode(&message.payload)? {
                    Message::Clock => Message::Time { ns: began.elapsed().as_nanos() as u64 },
                    Message::Plan(plan) => Message::Ready { run: plan.run.to_string() },
                    Message::Go { run, at_ns } => {
                        let at = began + Duration::from_nanos(at_ns);
                        tokio::task::spawn_local(load(client.clone(), run.clone(), agent, Rc::clone(&samples), at.into()));
                        Message::Ready { run: run.to_string() }
                    }
                    _ => continue,
                };
                if let Some(reply) = message.reply {
                    client.publish(reply, response.encode()).await?;
                }
            }
        }
    }
}

fn name(number: usize) -> FleetName {
    FleetName::of(&format!("simulated-{number:04}"))
}

/// Sends what an agent would.
async fn load(
    client: Client,
    run: FleetName,
    agent: String,
    samples: Rc<Samples>,
    at: tokio::time::Instant,
) -> Result<(), async_nats::PublishError> {
    let subject = format!("torr.default.run.{run}.from.{agent}");
    tokio::time::sleep_until(at).await;
    for number in 0..=SECONDS {
        client.publish(subject.clone(), Message::Alive.encode()).await?;
        let last = number == SECONDS;
        let sample = if last { SampleText::of(&Sample::default()) } else { samples[number as usize].clone() };
        let interval = Interval { number, last, sample };
        tokio::time::sleep_until(at + Duration::from_secs(number + 1)).await;
        client.publish(subject.clone(), Message::Interval(Box::new(interval)).encode()).await?;
    }
    let facts = Facts { duration_ns: SECONDS * 1_000_000_000, started: SECONDS * REQUESTS, ..Facts::default() };
    let end =
        End { intervals: SECONDS + 1, stopped: false, failed: None, unreachable: false, facts, own: Own::default() };
    client.publish(subject, Message::End(Box::new(end)).encode()).await
}

/// The counts of a second: response times with a tail, as those of a service.
fn sample(requests: u64) -> Sample {
    let mut sample = Sample::default();
    for _ in 0..requests {
        let us = 200.0 - 400.0 * (1.0 - fastrand::f64()).ln();
        sample.answered.record((us * 1000.0) as u64);
        sample.lag.record(20_000 + fastrand::u64(..60_000));
        sample.status.count(200);
    }
    sample.sent = requests * 80;
    sample.received = requests * 130;
    sample
}

//! The comparison of two servers, loaded in turns: A against A first, then blocks of A and B in random order.

mod instructions;
mod server;
mod turn;

pub use server::Server;
pub use turn::{cpu_at_rate, failed_share, invalid};

use crate::block::{Block, Side};
use crate::gate::{Kept, Rule};
use crate::judgement::{Finding, Judge, Outcome};
use crate::mean::Means;
use crate::metric::{Metric, Times};
use crate::report::{self, Note, Report};
use crate::stats::median;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use torr_doctor::{ExperimentStart, Halt};
use torr_gauge::verdict::{ExperimentId, ExperimentLabel};
use torr_gauge::{Latency, Machine, RunResult};
use turn::{Lengths, Measured};

/// The share of the smaller limit that the fixed rate is.
const RATE: f64 = 0.6;
/// The length of the first run of each version, which finds its limit.
const FIRST_LOOK: Duration = Duration::from_millis(500);
/// The shortest and the longest load of a turn. CPU time is counted in nanoseconds, so a turn may be short; a longer one
/// than this would cost more blocks than it is steadier.
const TURN: [Duration; 2] = [Duration::from_millis(180), Duration::from_secs(3)];
/// The number of blocks that a budget should have room for, before turns become longer: 60 of A and B tell 2% where the
/// ratio of two turns has a standard deviation of 2%.
const ENOUGH_BLOCKS: usize = 72;
/// The least number of blocks: of fewer no test can tell several metrics apart at the level of a comparison.
const LEAST_BLOCKS: usize = 22;
/// The share of blocks that are A against A, and the least number of them.
const NOISE: (f64, usize) = (0.15, 4);
/// The share of the budget that is left for what takes longer than planned.
const RESERVE: f64 = 0.04;
/// The gaps between events that a turn of streams should have.
const GAPS: u32 = 8;
/// The number of looks at the blocks.
const LOOKS: usize = 4;

/// Starts a server of a version and waits until it responds.
pub type Start<'s> = dyn FnMut(Side) -> Result<Server, Halt> + 's;

/// The servers of both versions.
pub enum Servers<'s> {
    /// They run already: A and B.
    Standing(Box<[Server; 2]>),
    /// They are started anew for each turn, as placement in memory differs by start.
    Started(Box<Start<'s>>),
}

impl Servers<'_> {
    fn with<T>(&mut self, side: Side, measure: impl FnOnce(&Server) -> Result<T, Halt>) -> Result<T, Halt> {
        match self {
            Self::Standing(servers) => measure(&servers[usize::from(side == Side::B)]),
            Self::Started(start) => measure(&start(side)?),
        }
    }
}

/// How two servers are compared.
pub struct Settings {
    /// How long all of it may take.
    pub budget: Duration,
    /// The fixed rate in requests per second; `None` for 60% of the smaller limit.
    pub rate: Option<f64>,
    /// Requests per second that are never exceeded.
    pub max_rate: Option<f64>,
    /// The relative difference that counts where no threshold says otherwise.
    pub margin: f64,
    /// The thresholds.
    pub rules: Vec<Rule>,
    /// The seed of the order of turns and of all that is drawn.
    pub seed: u64,
    /// The names of A and B.
    pub names: [String; 2],
    /// When the comparison begins (RFC 3339, UTC).
    pub started_at: String,
}

/// A comparison in progress.
struct Bench<'b> {
    servers: Servers<'b>,
    settings: &'b Settings,
    stop: &'b AtomicBool,
    tell: &'b mut dyn FnMut(ExperimentStart<'_>),
    begun: Instant,
    rng: fastrand::Rng,
    rate: f64,
    lengths: Lengths,
    connections: usize,
    /// Whether responses are streams of events.
    are_streams: bool,
    /// The times of A and of B, in all valid blocks.
    times: [BTreeMap<Times, Latency>; 2],
}

/// What the last look at all blocks found.
struct Judgement {
    findings: Vec<Finding>,
    /// The smallest relative difference of each metric that could be shown.
    smallest: BTreeMap<Metric, f64>,
}

impl Judgement {
    fn of(findings: Vec<Finding>, judge: &Judge) -> Self {
        Self { findings, smallest: judge.smallest().clone() }
    }
}

/// Compares two servers.
///
/// # Errors
/// [`Halt`]; an interruption only before there is a block of A and B.
pub fn compare(
    servers: Servers<'_>,
    settings: &Settings,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(ExperimentStart<'_>),
) -> Result<Report, Halt> {
    let mut bench = Bench {
        servers,
        settings,
        stop,
        tell,
        begun: Instant::now(),
        rng: fastrand::Rng::with_seed(settings.seed),
        rate: 0.0,
        lengths: Lengths::default(),
        connections: 0,
        are_streams: false,
        times: [BTreeMap::new(), BTreeMap::new()],
    };
    let most = bench.prepare()?;
    let noise_blocks = bench.noise(most)?;
    let most = most - noise_blocks.len();
    let (blocks, judgement, interrupted) = bench.blocks(most, &noise_blocks)?;
    Ok(bench.report(noise_blocks, blocks, judgement, interrupted))
}

impl Bench<'_> {
    /// Finds the limits of both, and returns how many blocks there is room for.
    fn prepare(&mut self) -> Result<usize, Halt> {
        let (mut limits, mut gap) = (Vec::new(), Duration::ZERO);
        let mut beside = Duration::ZERO;
        for side in [Side::A, Side::B] {
            self.announce(side, ExperimentId::VersionLimit)?;
            let begun = Instant::now();
            let (stop, most) = (self.stop, self.settings.max_rate);
            let (run, connections) = self
                .servers
                .with(side, |server| Ok((turn::saturated(server, FIRST_LOOK, most, stop)?, server.plan.connections)))?;
            self.connections = connections;
            beside += begun.elapsed().saturating_sub(FIRST_LOOK);
            limits.push(run.result.good_rps());
            self.are_streams |= run.result.streams.is_some();
            gap = gap.max(usual_gap(&run.result));
        }
        let limit = limits.iter().copied().fold(f64::INFINITY, f64::min);
        let rate = self.settings.rate.unwrap_or(limit * RATE).min(self.settings.max_rate.unwrap_or(f64::INFINITY));
        self.rate = rate.max(1.0);
        // Both versions' turns of a block, without their load.
        let left = self.left().saturating_sub(self.settings.budget.mul_f64(RESERVE));
        let load = (left / ENOUGH_BLOCKS as u32).saturating_sub(beside) / 2;
        let load = load.clamp(TURN[0].max(gap * GAPS).min(TURN[1]), TURN[1]);
        self.lengths = Lengths::of(load);
        let block = 2 * load + beside;
        let room = (left.as_secs_f64() / block.as_secs_f64()) as usize;
        if room < LEAST_BLOCKS {
            let least = self.begun.elapsed() + block * LEAST_BLOCKS as u32;
            let least = Duration::from_secs((least.as_secs_f64() / (1.0 - RESERVE)).ceil() as u64 + 1);
            return Err(Halt::Budget { given: self.settings.budget, least, ways: 2 });
        }
        Ok(room)
    }

    /// Compares A with itself.
    fn noise(&mut self, room: usize) -> Result<Vec<Block>, Halt> {
        let count = ((room as f64 * NOISE.0) as usize).max(NOISE.1);
        (0..count)
            .map(|_| {
                let [a, b] = [(); 2].map(|()| self.turn(Side::A, ExperimentId::SameVersionTurn));
                Ok(Block { first: Side::A, a: a?.turn, b: b?.turn })
            })
            .collect()
    }

    /// Compares A with B, until the thresholds are shown or the blocks and the budget are spent.
    fn blocks(&mut self, most: usize, noise: &[Block]) -> Result<(Vec<Block>, Judgement, bool), Halt> {
        let metrics = report::margins(&self.settings.rules, self.settings.margin);
        let mut judge = Judge::new(&metrics, noise, self.rng.u64(..));
        let mut blocks = Vec::new();
        let mut longest = Duration::ZERO;
        loop {
            let begun = Instant::now();
            match self.block() {
                Ok(block) => blocks.push(block),
                Err(Halt::Interrupted) if !blocks.is_empty() => {
                    let findings = judge.look(&blocks, 1.0);
                    return Ok((blocks, Judgement::of(findings, &judge), true));
                }
                Err(halt) => return Err(halt),
            }
            longest = longest.max(begun.elapsed());
            let is_last = blocks.len() >= most || self.left() < longest;
            let is_look = (1..=LOOKS).any(|look| blocks.len() == most * look / LOOKS);
            if is_last || is_look {
                let share = if is_last { 1.0 } else { blocks.len() as f64 / most as f64 };
                let findings = judge.look(&blocks, share);
                if is_last || self.is_settled(&findings) {
                    return Ok((blocks, Judgement::of(findings, &judge), false));
                }
            }
        }
    }

    /// Whether all that the user wants to know is shown.
    fn is_settled(&self, findings: &[Finding]) -> bool {
        let rules = report::judged(&self.settings.rules, findings);
        match rules.is_empty() {
            true => report::main(findings).is_some_and(|finding| finding.outcome != Outcome::CannotTell),
            false => rules.iter().all(|judged| judged.outcome != Kept::CannotTell),
        }
    }

    fn block(&mut self) -> Result<Block, Halt> {
        let first = if self.rng.bool() { Side::A } else { Side::B };
        let (a, b) = match first {
            Side::A => {
                let a = self.turn(Side::A, ExperimentId::VersionsTurn)?;
                (a, self.turn(Side::B, ExperimentId::VersionsTurn)?)
            }
            Side::B => {
                let b = self.turn(Side::B, ExperimentId::VersionsTurn)?;
                (self.turn(Side::A, ExperimentId::VersionsTurn)?, b)
            }
        };
        let block = Block { first, a: a.turn, b: b.turn };
        if !block.is_invalid() {
            for (all, turn) in self.times.iter_mut().zip([&a.times, &b.times]) {
                turn.iter().for_each(|(of, times)| all.entry(*of).or_default().add(times));
            }
        }
        Ok(block)
    }

    fn turn(&mut self, side: Side, id: ExperimentId) -> Result<Measured, Halt> {
        self.announce(side, id)?;
        let (rate, lengths, most, stop) = (self.rate, self.lengths, self.settings.max_rate, self.stop);
        let are_streams = self.are_streams;
        self.servers.with(side, |server| match are_streams {
            true => turn::measure_streams(server, lengths.whole(), most, stop),
            false => turn::measure(server, rate, lengths, most, stop),
        })
    }

    fn announce(&mut self, side: Side, id: ExperimentId) -> Result<(), Halt> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Halt::Interrupted);
        }
        let spent = self.begun.elapsed().as_secs_f64() / self.settings.budget.as_secs_f64();
        let variant = Some(if side == Side::A { "A" } else { "B" }.to_owned());
        let label = ExperimentLabel { id, connections: self.connections, streams: None, rate: None, variant };
        (self.tell)(ExperimentStart { label: &label, spent });
        Ok(())
    }

    fn left(&self) -> Duration {
        self.settings.budget.saturating_sub(self.begun.elapsed())
    }

    fn report(
        &mut self,
        noise_blocks: Vec<Block>,
        blocks: Vec<Block>,
        judgement: Judgement,
        interrupted: bool,
    ) -> Report {
        let Judgement { mut findings, smallest } = judgement;
        for finding in &mut findings {
            let value = |side: usize| self.value(finding.metric, &blocks, side);
            (finding.a, finding.b) = (value(0), value(1));
        }
        let mut reasons = BTreeMap::new();
        for turn in blocks.iter().flat_map(|block| [&block.a, &block.b]) {
            for reason in turn.invalid.iter().chain(&turn.throughput_invalid) {
                *reasons.entry(*reason).or_insert(0) += 1;
            }
        }
        let [a, b] = self.settings.names.clone();
        let started_once = matches!(self.servers, Servers::Standing(_)).then_some(Note::StartedOnce);
        let means = Means::of(&blocks, &mut self.rng);
        let queueing =
            findings.iter().find(|finding| finding.metric == Metric::Cpu).and_then(|cpu| queueing(cpu, means.as_ref()));
        let notes = started_once.into_iter().chain(without_cpu(&blocks)).chain(queueing).collect();
        Report {
            schema: report::SCHEMA,
            torr: env!("CARGO_PKG_VERSION"),
            a,
            b,
            started_at: self.settings.started_at.clone(),
            machine: Some(Machine::this()),
            seed: self.settings.seed,
            seconds: self.begun.elapsed().as_secs_f64(),
            connections: self.connections,
            rate: Some(self.rate).filter(|_| !self.are_streams),
            smallest,
            rules: report::judged(&self.settings.rules, &findings),
            findings,
            means,
            left_out: blocks.iter().filter(|block| block.is_invalid()).count(),
            reasons,
            notes,
            interrupted,
            noise_blocks,
            blocks,
        }
    }

    /// Returns the value of a version in the blocks that were compared: a percentile of its turns together, or the median of its turns.
    fn value(&self, metric: Metric, blocks: &[Block], side: usize) -> Option<f64> {
        if let Some((of, quantile)) = metric.percentile() {
            return self.times[side].get(&of)?.quantile(quantile).map(|us| us as f64);
        }
        let pairs = blocks.iter().filter_map(|block| block.pair(metric));
        let values: Vec<f64> = pairs.map(|pair| pair[side]).collect();
        (!values.is_empty()).then(|| median(&values))
    }
}

/// Returns the median time between two events of a run's streams; 0 for plain responses.
fn usual_gap(run: &RunResult) -> Duration {
    let gap = run.streams.as_ref().and_then(|streams| streams.gap_us);
    gap.map_or(Duration::ZERO, |gap| Duration::from_secs_f64(gap.typical_us() / 1e6))
}

/// Returns the note that queueing may explain a difference in CPU time.
fn queueing(cpu: &Finding, means: Option<&Means>) -> Option<Note> {
    let means = means.filter(|means| means.may_explain(cpu))?;
    Some(Note::Queueing { cpu: cpu.ratio?, mean: means.ratio })
}

/// Returns why no turn had a CPU time per request; `None` if one had it.
fn without_cpu(blocks: &[Block]) -> Option<Note> {
    let has =
        |metric| blocks.iter().flat_map(|block| [&block.a, &block.b]).any(|turn| turn.values.contains_key(&metric));
    match (has(Metric::Cpu) || has(Metric::EventCpu), has(Metric::Memory)) {
        (true, _) => None,
        (false, true) => Some(Note::LittleCpu),
        (false, false) => Some(Note::ServerNotVisible),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{InvalidReason, Turn};

    fn turn(values: &[(Metric, f64)], invalid: &[InvalidReason]) -> Turn {
        Turn { values: values.iter().copied().collect(), invalid: invalid.to_vec(), ..Turn::default() }
    }

    #[test]
    fn processes_that_were_seen_in_any_turn_are_not_said_to_be_hidden() {
        let b = |values: &[(Metric, f64)]| turn(values, &[InvalidReason::HypervisorSteal]);
        let block = |values: &[(Metric, f64)]| Block { first: Side::A, a: turn(&[], &[]), b: b(values) };
        assert_eq!(without_cpu(&[block(&[]), block(&[(Metric::Cpu, 9.0)])]), None);
        assert_eq!(without_cpu(&[block(&[(Metric::Memory, 9.0)])]), Some(Note::LittleCpu));
        assert_eq!(without_cpu(&[block(&[])]), Some(Note::ServerNotVisible));
    }

    #[test]
    fn a_pair_has_the_values_of_valid_turns_alone() {
        let block = |invalid| Block {
            first: Side::A,
            a: turn(&[(Metric::Cpu, 9.0)], invalid),
            b: turn(&[(Metric::Cpu, 10.0)], &[]),
        };
        assert_eq!(block(&[]).pair(Metric::Cpu), Some([9.0, 10.0]));
        assert_eq!(block(&[InvalidReason::RateMissed]).pair(Metric::Cpu), None);
        assert_eq!(block(&[]).pair(Metric::Memory), None);
    }
}

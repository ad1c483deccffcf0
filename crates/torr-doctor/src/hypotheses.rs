//! What an unknown factor most likely is: the rules read the evidence again under assumptions about what a disturbance changed, and the
//! factor that most readings name is the best hypothesis.

use crate::calm;
use crate::evidence::Evidence;
use crate::figures::Figures;
use crate::rules::{less_than_one, readings_of};
use crate::thresholds::{NOT_KEPT, WORKS};
use torr_gauge::Factor;
use torr_gauge::verdict::Hypothesis;

/// Returns the factors that the evidence points to, the most likely first. Empty if no reading names one, or the load of the user was not
/// tried.
pub fn ranked(evidence: &Evidence) -> Vec<Hypothesis> {
    if evidence.positions.full.is_none() || evidence.positions.alone.is_none() {
        return vec![];
    }
    // Where as many readings name one factor as another, the first reading decides.
    let assumptions: [fn(Figures) -> Figures; 4] =
        [with_all_cpu, |figures| with_shortest_alone(with_all_cpu(figures)), as_measured, with_shortest_alone];
    let of = assumptions.len();
    // A hypothesis is about what cannot be proved in this weather.
    let figures = Figures { weather: None, ..evidence.figures.clone() };
    let read = |assume: &fn(Figures) -> Figures| reading(&evidence.with_figures(assume(figures.clone())));
    let named: Vec<_> = assumptions.iter().filter_map(read).collect();
    let mut ranked: Vec<Hypothesis> = vec![];
    for &factor in &named {
        if ranked.iter().all(|hypothesis| hypothesis.factor != factor) {
            let readings = named.iter().filter(|other| **other == factor).count();
            ranked.push(Hypothesis { factor, readings, of });
        }
    }
    ranked.sort_by_key(|hypothesis| std::cmp::Reverse(hypothesis.readings));
    ranked
}

/// Returns the factor that the rules name without another experiment, and without regard to other programs.
fn reading(evidence: &Evidence) -> Option<Factor> {
    let found = readings_of(&evidence.setting).iter().find_map(|rule| rule(evidence).ok().flatten());
    let named = found.map(|finding| finding.factor).filter(|factor| *factor != Factor::Unknown);
    let named = named.map(|factor| if is_accepting(evidence, factor) { Factor::KeepAlive } else { factor });
    let limiter = || limiter(&evidence.figures).filter(|_| evidence.setting.streams.is_none());
    named.or_else(limiter).or_else(|| one_thread(&evidence.figures))
}

/// Returns the factor of a service of which one thread computes most of the time, though not in so much of it that a rule counts it as
/// saturated.
fn one_thread(figures: &Figures) -> Option<Factor> {
    (figures.worker_demand() >= WORKS && figures.others_wait() != Some(false)).then_some(Factor::SingleCore)
}

/// Returns whether requests may wait for their connections to be accepted: each opens one, and no thread blocks with a request.
fn is_accepting(evidence: &Evidence, factor: Factor) -> bool {
    let figures = &evidence.figures;
    let waits = evidence.setting.streams.is_none() && matches!(factor, Factor::Workers | Factor::Lock | Factor::Pool);
    let is_shown = figures.holding() > 0 || figures.taking_turns() > 1;
    waits && !is_shown && evidence.full().opened_per_request() >= NOT_KEPT
}

/// Returns the factor of a service that does less than it could with one request at a time, whatever the load: the rule about limiters
/// needs an experiment that there was no time for.
fn limiter(figures: &Figures) -> Option<Factor> {
    less_than_one(figures).filter(|less| less.is_even).map(|_| Factor::RateLimit)
}

fn as_measured(figures: Figures) -> Figures {
    figures
}

/// Assumes that each thread would have used a CPU in all the time in which it was runnable, and that no other program ran.
fn with_all_cpu(figures: Figures) -> Figures {
    let generator = figures.generator_there();
    Figures { signals: figures.signals.map(|signals| calm::signals(signals, generator)), ..figures }
}

/// Assumes that the shortest response is the one that nothing disturbed.
fn with_shortest_alone(figures: Figures) -> Figures {
    Figures { alone_mean_s: figures.alone_least_s, alone_median_s: figures.alone_least_s, ..figures }
}

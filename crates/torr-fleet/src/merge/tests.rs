//! The merge is lossless, whatever the order and however often messages arrive.

use super::*;
use crate::message::{Interval, Message};
use proptest::prelude::*;
use torr_gauge::Latency;
use torr_gauge::collector::RunFacts;

/// The response times of one agent: one list for each of its intervals, in nanoseconds.
type Times = Vec<Vec<u64>>;

fn sample(times: &[u64]) -> SampleText {
    let mut sample = Sample { sent: times.len() as u64, ..Sample::default() };
    for &time in times {
        sample.answered.record(time);
        sample.status.count(200);
    }
    SampleText::of(&sample)
}

fn end(seconds: u64, started: u64) -> RunEnd {
    let facts = RunFacts { duration: Duration::from_secs(seconds), started, ..RunFacts::default() };
    RunEnd { facts, given_up: false }
}

/// All messages of all agents, each encoded as it would travel.
fn messages(agents: &[Times]) -> Vec<(usize, bytes::Bytes)> {
    let message = |(agent, times): (usize, &Times)| {
        let count = times.len();
        let encoded = times.iter().enumerate().map(move |(number, times)| {
            let interval = Interval { number: number as u64, last: number + 1 == count, sample: sample(times) };
            (agent, Message::Interval(Box::new(interval)).encode())
        });
        encoded.collect::<Vec<_>>()
    };
    agents.iter().enumerate().flat_map(message).collect()
}

/// Adds an interval whose counts are within their bounds.
fn take(merge: &mut IntervalMerge, agent: usize, number: u64, sample: SampleText, last: bool) -> Vec<Progress> {
    merge.take(agent, number, sample, last).expect("the counts are within their bounds")
}

fn receive(merge: &mut IntervalMerge, agent: usize, bytes: &[u8]) -> Vec<Progress> {
    let Ok(Message::Interval(interval)) = Message::decode(bytes) else { panic!("it was encoded by this test") };
    take(merge, agent, interval.number, interval.sample, interval.last)
}

fn all_recorded(agents: &[Times]) -> Latency {
    let mut all = Latency::default();
    agents.iter().flatten().flatten().for_each(|&time| all.record(time));
    all
}

prop_compose! {
    fn some_agents()(
        agents in proptest::collection::vec(
            proptest::collection::vec(proptest::collection::vec(0_u64..4_000_000_000_000, 0..40), 1..6),
            1..5,
        ),
    ) -> Vec<Times> {
        agents
    }
}

proptest! {
    // A histogram has 23,000 counts, and a case some dozens of histograms.
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_histogram_is_that_into_which_all_samples_were_recorded(agents in some_agents(), seed: u64) {
        let mut messages = messages(&agents);
        // Each message twice, in any order.
        messages.extend(messages.clone());
        let mut random = fastrand::Rng::with_seed(seed);
        random.shuffle(&mut messages);
        let mut merge = IntervalMerge::new(agents.len());
        let mut watched = Latency::default();
        for (agent, bytes) in &messages {
            for progress in receive(&mut merge, *agent, bytes) {
                watched.add(&progress.latency);
            }
        }
        for agent in 0..agents.len() {
            merge.end(agent).iter().for_each(|progress| watched.add(&progress.latency));
        }
        let longest = agents.iter().map(Vec::len).max().unwrap_or(0) as u64;
        let expected = all_recorded(&agents);
        let measured = merge.finish(end(longest, expected.count()));
        prop_assert_eq!(&measured.total.latency(), &expected);
        prop_assert_eq!(measured.result.requests, expected.count());
        prop_assert_eq!(measured.result.latency_histogram.latency(), expected.clone());
        if let Some(rest) = &measured.rest {
            watched.add(&rest.latency);
        }
        prop_assert_eq!(watched, expected, "what was watched is what was measured");
    }

    #[test]
    fn a_lost_agent_cuts_the_result_at_the_last_interval_that_all_had(
        agents in some_agents(),
        kept in 0_usize..5,
        seed: u64,
    ) {
        let lost = fastrand::Rng::with_seed(seed).usize(..agents.len());
        // The lost agent sends no last interval.
        let kept = kept.min(agents[lost].len() - 1);
        let mut merge = IntervalMerge::new(agents.len());
        for (agent, bytes) in messages(&agents) {
            let Ok(Message::Interval(interval)) = Message::decode(&bytes) else { panic!("it was encoded by this test") };
            if agent != lost || (interval.number as usize) < kept {
                take(&mut merge, agent, interval.number, interval.sample, interval.last);
            }
        }
        (0..agents.len()).filter(|&agent| agent != lost).for_each(|agent| drop(merge.end(agent)));
        merge.lose(lost);
        let (mut expected, mut after) = (Latency::default(), 0);
        for (agent, times) in agents.iter().enumerate() {
            for (number, times) in times.iter().enumerate() {
                match number < kept {
                    true => times.iter().for_each(|&time| expected.record(time)),
                    false if agent != lost => after += times.len() as u64,
                    false => {}
                }
            }
        }
        let cut = merge.fleet_cut().unwrap();
        prop_assert_eq!((cut.at_s, cut.requests_after), (kept as f64, after));
        let measured = merge.finish(end(kept as u64, expected.count()));
        prop_assert_eq!(measured.total.latency(), expected);
    }
}

#[test]
fn a_late_message_fits_in_and_a_repeated_one_changes_nothing() {
    let mut merge = IntervalMerge::new(2);
    assert!(take(&mut merge, 0, 0, sample(&[1_000]), false).is_empty());
    assert!(take(&mut merge, 1, 1, sample(&[2_000]), false).is_empty());
    assert!(take(&mut merge, 0, 1, sample(&[3_000]), false).is_empty());
    assert!(merge.missing(1, 2).eq([0]));
    let progress = take(&mut merge, 1, 0, sample(&[4_000, 5_000]), false);
    assert_eq!(progress.iter().map(|progress| progress.requests).collect::<Vec<_>>(), [3, 5]);
    assert!(take(&mut merge, 1, 0, sample(&[4_000, 5_000]), false).is_empty());
    assert!(merge.missing(1, 2).next().is_none());
    take(&mut merge, 0, 2, sample(&[]), true);
    take(&mut merge, 1, 2, sample(&[6_000]), true);
    (0..2).for_each(|agent| drop(merge.end(agent)));
    assert!(take(&mut merge, 1, 2, sample(&[6_000]), true).is_empty());
    let measured = merge.finish(end(3, 6));
    assert_eq!((measured.result.requests, measured.result.series.len()), (6, 3));
}

#[test]
fn an_agent_that_ends_early_holds_no_interval_up() {
    let mut merge = IntervalMerge::new(2);
    take(&mut merge, 0, 0, sample(&[1_000]), true);
    merge.end(0);
    assert!(take(&mut merge, 1, 0, sample(&[1_000]), false).len() <= 1);
    assert_eq!(take(&mut merge, 1, 1, sample(&[1_000]), false).len(), 1);
}

#[test]
fn the_last_interval_of_an_agent_without_an_end_is_not_in_the_result() {
    let mut merge = IntervalMerge::new(2);
    for agent in 0..2 {
        take(&mut merge, agent, 0, sample(&[1_000]), false);
        assert!(take(&mut merge, agent, 1, sample(&[2_000, 3_000]), true).is_empty(), "how long it was is not known");
    }
    merge.end(0);
    merge.lose(1);
    let cut = merge.fleet_cut().expect("an agent was lost");
    assert_eq!((cut.at_s, cut.requests_after), (1.0, 4));
    assert!(!merge.is_whole(1) && merge.is_whole(0));
    assert_eq!(merge.finish(end(1, 2)).result.requests, 2);
}

#[test]
fn an_agent_whose_interval_never_arrives_cuts_the_result_there() {
    let mut merge = IntervalMerge::new(1);
    take(&mut merge, 0, 0, sample(&[1_000]), false);
    take(&mut merge, 0, 2, sample(&[1_000]), true);
    merge.end(0);
    merge.lose(0);
    let cut = merge.fleet_cut().expect("an agent was lost");
    assert_eq!((cut.at_s, cut.requests_after, merge.is_whole(0)), (1.0, 1, false));
}

#[test]
fn an_agent_that_is_lost_with_all_intervals_cuts_nothing() {
    let mut merge = IntervalMerge::new(1);
    take(&mut merge, 0, 0, sample(&[1_000]), true);
    merge.end(0);
    merge.lose(0);
    assert!(merge.fleet_cut().is_none() && merge.is_whole(0));
}

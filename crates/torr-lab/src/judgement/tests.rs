use super::*;
use crate::block::{InvalidReason, Side, Turn};

/// The standard deviation of a turn's CPU time per request. The ratio of two turns has 2% then, which is more than "repeats
/// within 2%" at a fixed rate.
const NOISE: f64 = 0.014;
/// The blocks that five minutes have room for.
const BLOCKS: usize = 60;

fn normal(rng: &mut fastrand::Rng) -> f64 {
    (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0
}

/// A block in which B takes so many times A's CPU; one turn in fifty has an outlier of half as much again.
fn block(rng: &mut fastrand::Rng, factor: f64) -> Block {
    let mut turn = |factor: f64| {
        let outlier = if rng.u32(..50) == 0 { 1.5 } else { 1.0 };
        let mut value = |noise: f64| factor * outlier * (noise * normal(rng)).exp();
        let values =
            [(Metric::Cpu, value(NOISE)), (Metric::Throughput, 1.0 / value(5.0 * NOISE)), (Metric::P99, value(0.2))];
        Turn { values: values.into(), ..Turn::default() }
    };
    Block { first: Side::A, a: turn(1.0), b: turn(factor) }
}

/// A comparison with looks at quarters, as those of servers have.
fn compared(rng: &mut fastrand::Rng, factor: f64) -> Vec<Finding> {
    let metrics = [(Metric::Cpu, 0.02), (Metric::Throughput, 0.02), (Metric::P99, 0.02)];
    let mut judge = Judge::new(&metrics, &[], rng.u64(..));
    let mut blocks = Vec::new();
    for look in 1..=4 {
        blocks.extend((0..BLOCKS / 4).map(|_| block(rng, factor)));
        let findings = judge.look(&blocks, f64::from(look) / 4.0);
        if findings[0].outcome != Outcome::CannotTell || look == 4 {
            return findings;
        }
    }
    unreachable!("the fourth look returns")
}

#[test]
fn of_two_hundred_placebos_at_most_two_are_different() {
    let mut rng = fastrand::Rng::with_seed(22);
    let is_false = |findings: &[Finding]| findings.iter().any(|finding| finding.outcome == Outcome::Different);
    let falsely = (0..200).filter(|_| is_false(&compared(&mut rng, 1.0))).count();
    assert!(falsely <= 2, "{falsely} of 200 placebos were different");
}

#[test]
fn two_percent_are_shown_nineteen_times_of_twenty() {
    let mut rng = fastrand::Rng::with_seed(22);
    let shown = (0..60).filter(|_| compared(&mut rng, 1.02)[0].outcome == Outcome::Different).count();
    assert!(shown >= 57, "{shown} of 60 were shown");
}

#[test]
fn what_does_not_differ_is_the_same_or_untold_but_not_different() {
    let mut rng = fastrand::Rng::with_seed(4);
    let same = (0..20).filter(|_| compared(&mut rng, 1.0)[0].outcome == Outcome::Same).count();
    assert!(same >= 15, "{same} of 20 were the same");
}

#[test]
fn blocks_with_invalid_turns_are_left_out() {
    let mut rng = fastrand::Rng::with_seed(9);
    let mut blocks: Vec<_> = (0..20).map(|_| block(&mut rng, 2.0)).collect();
    blocks[3].a.invalid.push(InvalidReason::RateMissed);
    blocks[4].b.throughput_invalid.push(InvalidReason::GeneratorSaturated);
    let findings = Judge::new(&[(Metric::Cpu, 0.02), (Metric::Throughput, 0.02)], &[], 1).look(&blocks, 1.0);
    assert_eq!([findings[0].pairs, findings[1].pairs], [19, 18]);
    assert!(findings.iter().all(|finding| finding.outcome == Outcome::Different), "{findings:?}");
}

#[test]
fn nothing_is_claimed_below_the_smallest_difference_that_can_be_shown() {
    let mut rng = fastrand::Rng::with_seed(8);
    let (mut claimed, mut smallest) = (0, Vec::new());
    for round in 0..60 {
        let factor = 1.0 + 0.001 * f64::from(round);
        let noise: Vec<_> = (0..9).map(|_| block(&mut rng, 1.0)).collect();
        let blocks: Vec<_> = (0..BLOCKS).map(|_| block(&mut rng, factor)).collect();
        let mut judge = Judge::new(&[(Metric::Cpu, 0.02), (Metric::P99, 0.02)], &noise, rng.u64(..));
        for finding in judge.look(&blocks, 1.0) {
            let can_show = judge.smallest()[&finding.metric];
            let ratio = finding.ratio.expect("it was measured");
            let claims = finding.outcome == Outcome::Different;
            assert!(!claims || ratio.max(1.0 / ratio) - 1.0 >= can_show, "below {can_show}: {finding:?}");
            assert!(finding.outcome != Outcome::Same || can_show <= finding.margin, "{can_show}: {finding:?}");
            claimed += usize::from(claims);
        }
        smallest.push(judge.smallest()[&Metric::Cpu]);
    }
    assert!(claimed >= 30, "{claimed} differences of up to 6% were shown");
    // Blocks whose ratios vary by 2% show 1%.
    assert!((0.005..0.02).contains(&median(&smallest)), "{smallest:?}");
}

#[test]
fn noise_between_a_and_itself_hides_a_difference() {
    let mut rng = fastrand::Rng::with_seed(9);
    let blocks: Vec<_> = (0..24).map(|_| block(&mut rng, 1.09)).collect();
    let outcome = |noise: &[Block]| Judge::new(&[(Metric::Cpu, 0.02)], noise, 1).look(&blocks, 1.0)[0].outcome;
    assert_eq!(outcome(&[]), Outcome::Different);
    // In as many blocks of A against A each turn differed from the other by a third.
    let loud: Vec<_> = (0..30).map(|n| block(&mut rng, if n % 2 == 0 { 1.5 } else { 0.67 })).collect();
    assert_eq!(outcome(&loud), Outcome::CannotTell);
    let few: Vec<f64> = vec![0.01; LEAST - 1];
    assert_eq!(smallest_difference(&few, &few), None);
}

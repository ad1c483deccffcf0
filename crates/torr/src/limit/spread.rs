//! How far the steps of a search agree, and what disturbed them, in words.

use torr_doctor::limit::{Disturbance, Spread};
use torr_report::human::{percent, rate};

/// Returns in words the steps that do not agree with the result. `None` if all agree.
pub fn spread(spread: &[Spread], sustained: f64) -> Option<String> {
    let (above, below): (Vec<&Spread>, Vec<&Spread>) = spread.iter().partition(|at| at.rate > sustained);
    let kept = (!above.is_empty()).then(|| {
        let again = if above.iter().all(|at| at.failed > 0) { ", but failed when tried again" } else { "" };
        format!("above it the service kept {}{again}", times(&above, |at| at.kept))
    });
    let failed =
        (!below.is_empty()).then(|| format!("at or below it the service failed at {}", times(&below, |at| at.failed)));
    kept.into_iter().chain(failed).reduce(|one, other| format!("{one}; {other}"))
}

/// Rates with how often something happened at them: "100 and 120 once each, 140 twice".
fn times(spread: &[&Spread], count: fn(&Spread) -> usize) -> String {
    let mut counts: Vec<usize> = spread.iter().map(|at| count(at)).collect();
    counts.sort_unstable();
    counts.dedup();
    let group = |&times: &usize| {
        let rates: Vec<_> = spread.iter().filter(|at| count(at) == times).map(|at| rate(at.rate)).collect();
        let often = match times {
            1 => "once".to_owned(),
            2 => "twice".to_owned(),
            n => format!("{n} times"),
        };
        match &rates[..] {
            [one] => format!("{one} {often}"),
            [first @ .., last] => format!("{} and {last} {often} each", first.join(", ")),
            [] => unreachable!("the count is one of these rates'"),
        }
    };
    counts.iter().map(group).collect::<Vec<_>>().join(", ")
}

/// Who else used the machine, and how many of the failures fell into that time.
pub fn disturbance(found: &Disturbance) -> String {
    let others = (found.most.others >= 0.01)
        .then(|| format!("other programs used up to {} of this machine's CPU", percent(found.most.others)));
    let stolen =
        (found.most.stolen >= 0.01).then(|| format!("the hypervisor took up to {} of it", percent(found.most.stolen)));
    let who = others.into_iter().chain(stolen).collect::<Vec<_>>().join(", and ");
    let failed = match found.failed {
        0 => "none of these failed".to_owned(),
        1 => "1 of these failed".to_owned(),
        n => format!("{n} of these failed"),
    };
    format!("{who}, in {} of {} steps; {failed}", found.steps, found.of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use torr_doctor::limit::Taken;

    #[test]
    fn the_spread_names_each_rate_that_does_not_agree() {
        let at = |rate, kept, failed| Spread { rate, kept, failed };
        for (found, text) in [
            (
                &[at(78_563.0, 1, 2), at(85_673.0, 1, 1)][..],
                Some("above it the service kept 78,563 and 85,673 once each, but failed when tried again"),
            ),
            (
                &[at(27_776.0, 1, 1), at(52_000.0, 1, 2), at(78_563.0, 2, 0)],
                Some(
                    "above it the service kept 78,563 twice; at or below it the service failed at 27,776 once, 52,000 twice",
                ),
            ),
            (&[], None),
        ] {
            assert_eq!(spread(found, 55_552.0).as_deref(), text);
        }
    }

    #[test]
    fn who_else_used_the_machine_is_said() {
        let taken = |others, stolen| Disturbance { most: Taken { others, stolen }, steps: 5, failed: 2, of: 14 };
        assert_eq!(
            disturbance(&taken(0.43, 0.08)),
            "other programs used up to 43% of this machine's CPU, and the hypervisor took up to 8.0% of it, in 5 of 14 steps; 2 of \
             these failed"
        );
        assert!(disturbance(&taken(0.0, 0.2)).starts_with("the hypervisor took up to 20%"));
    }
}

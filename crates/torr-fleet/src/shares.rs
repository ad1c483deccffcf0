//! The shares of a plan by the agents' ceilings.

use crate::error::FleetError;
use torr_press::Share;

/// Returns a share for each ceiling, in proportion to it. All shares together are the whole.
///
/// # Errors
/// If an agent would have no connection or no request.
pub(crate) fn shares(ceilings: &[f64], connections: usize, requests: Option<u64>) -> Result<Vec<Share>, FleetError> {
    let agents = ceilings.len();
    let too_few = |count: u64, what: &str| {
        FleetError::Usage(format!(
            "cannot divide {count} {what} among {agents} agents: use fewer agents or more {what}"
        ))
    };
    if connections < agents {
        return Err(too_few(connections as u64, "connections"));
    }
    if let Some(requests) = requests.filter(|&requests| requests < agents as u64) {
        return Err(too_few(requests, "requests"));
    }
    let known = |ceiling: &f64| if ceiling.is_finite() && *ceiling > 0.0 { *ceiling } else { 1.0 };
    let all: f64 = ceilings.iter().map(known).sum();
    let parts: Vec<f64> = ceilings.iter().map(|ceiling| known(ceiling) / all).collect();
    let connections = split(connections as u64, &parts);
    let requests = requests.map(|requests| split(requests, &parts));
    let before = |number: usize| connections[..number].iter().sum::<u64>() as usize;
    let share = |number: usize| Share {
        part: parts[number],
        connections: connections[number] as usize,
        requests: requests.as_ref().map(|requests| requests[number]),
        phase: number as f64 / agents as f64,
        users_before: before(number),
    };
    Ok((0..agents).map(share).collect())
}

/// Splits a whole into parts of at least 1, of which there are no more than the whole has units. What is left after
/// rounding down goes to the parts that lost most by it.
fn split(whole: u64, parts: &[f64]) -> Vec<u64> {
    let rest = whole - parts.len() as u64;
    let exact: Vec<f64> = parts.iter().map(|part| part * rest as f64).collect();
    let mut counts: Vec<u64> = exact.iter().map(|exact| 1 + exact.floor() as u64).collect();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by(|&one, &other| exact[other].fract().total_cmp(&exact[one].fract()));
    let left = whole.saturating_sub(counts.iter().sum());
    order.iter().cycle().take(left as usize).for_each(|&number| counts[number] += 1);
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn shares_are_the_whole(
            ceilings in proptest::collection::vec(1.0_f64..1e6, 1..40),
            connections in 40_usize..5_000,
            requests in proptest::option::of(40_u64..1_000_000_000),
        ) {
            let shares = shares(&ceilings, connections, requests).unwrap();
            prop_assert!((shares.iter().map(|share| share.part).sum::<f64>() - 1.0).abs() < 1e-9);
            prop_assert_eq!(shares.iter().map(|share| share.connections).sum::<usize>(), connections);
            prop_assert!(shares.iter().all(|share| share.connections > 0 && share.requests != Some(0)));
            if requests.is_some() {
                prop_assert_eq!(shares.iter().filter_map(|share| share.requests).sum::<u64>(), requests.unwrap());
            }
        }
    }

    #[test]
    fn a_stronger_agent_has_more() {
        let shares = shares(&[3000.0, 1000.0], 8, Some(1000)).unwrap();
        let seen: Vec<_> = shares.iter().map(|share| (share.part, share.connections, share.requests)).collect();
        assert_eq!(seen, [(0.75, 6, Some(750)), (0.25, 2, Some(250))]);
    }

    #[test]
    fn too_few_are_refused_in_one_line() {
        let refused = shares(&[1.0; 3], 2, None).unwrap_err().to_string();
        assert!(refused.starts_with("cannot divide 2 connections among 3 agents"), "{refused}");
        assert!(shares(&[1.0; 3], 3, Some(2)).is_err());
    }
}

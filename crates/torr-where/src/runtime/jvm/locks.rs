//! The identity of Java's locks over several dumps: the garbage collector moves objects, so that their addresses change.

use super::super::request::site_number;
use crate::stack::{LockId, Stack, StackSample, WaitKind};
use std::collections::{BTreeMap, BTreeSet};

/// Where threads wait for a lock, as a number, with the lock's class.
type Site = (u64, Option<String>);

/// Gives a lock one number in all rounds.
///
/// Threads that wait for one address in one round wait for one lock, so that their sites are of one lock. A lock keeps its addresses if
/// its sites have several in one round: there are several locks, as those of single accounts.
pub fn settle(rounds: &mut [Vec<StackSample>]) {
    let groups = groups(rounds);
    let mut several: BTreeSet<Site> = BTreeSet::new();
    for round in rounds.iter() {
        let mut addresses: BTreeMap<&Site, u64> = BTreeMap::new();
        for (site, lock) in round.iter().filter_map(waiter) {
            let Some(group) = groups.get(&site) else { continue };
            if *addresses.entry(group).or_insert(lock.address) != lock.address {
                several.insert(group.clone());
            }
        }
    }
    for round in rounds {
        // What a lock of this round is called from now on.
        let mut numbers: BTreeMap<LockId, u64> = BTreeMap::new();
        for (site, lock) in round.iter().filter_map(waiter) {
            if let Some(group) = groups.get(&site).filter(|group| !several.contains(group)) {
                numbers.insert(lock.clone(), group.0);
            }
        }
        let rename = |lock: &mut LockId| {
            if let Some(number) = numbers.get(lock) {
                lock.address = *number;
            }
        };
        for sample in round {
            if let Some(WaitKind::Lock(lock)) = &mut sample.wait {
                rename(lock);
            }
            sample.holds.iter_mut().for_each(rename);
        }
    }
}

/// Returns the site of a thread that waits for a lock, and the lock.
fn waiter(sample: &StackSample) -> Option<(Site, &LockId)> {
    let lock = sample.wait.as_ref()?.lock()?;
    Some(((site(&sample.stack), lock.name.clone()), lock))
}

/// Returns a number for where a stack waits: the first function that is none of the JDK's.
fn site(stack: &Stack) -> u64 {
    site_number(stack.0.iter().find(|frame| !frame.module.starts_with("java.") && !frame.module.starts_with("jdk.")))
}

/// Returns the group of each site: the smallest site of the lock.
fn groups(rounds: &[Vec<StackSample>]) -> BTreeMap<Site, Site> {
    let mut groups: BTreeMap<Site, Site> = BTreeMap::new();
    for round in rounds {
        let mut by_address: BTreeMap<&LockId, BTreeSet<Site>> = BTreeMap::new();
        for (site, lock) in round.iter().filter_map(waiter) {
            by_address.entry(lock).or_default().insert(site);
        }
        for sites in by_address.into_values() {
            let known: BTreeSet<Site> = sites.iter().map(|site| groups.get(site).unwrap_or(site).clone()).collect();
            let Some(first) = known.first().cloned() else { continue };
            for group in groups.values_mut().filter(|group| known.contains(group)) {
                group.clone_from(&first);
            }
            groups.extend(sites.into_iter().map(|site| (site, first.clone())));
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::Frame;
    use std::sync::Arc;

    fn lock(address: u64) -> LockId {
        LockId { address, name: Some("Cache".into()) }
    }

    fn sample(function: &str, wait: Option<u64>, holds: Option<u64>) -> StackSample {
        let frame = Arc::new(Frame { function: function.into(), is_own: true, ..Frame::default() });
        let wait = wait.map(|address| WaitKind::Lock(lock(address)));
        let holds = holds.map(lock).into_iter().collect();
        StackSample { process: 1, thread: 1, on_cpu: false, wait, holds, stack: Stack(vec![frame]), weight: 1.0 }
    }

    fn numbers(rounds: &[Vec<StackSample>]) -> Vec<Vec<u64>> {
        let number = |sample: &StackSample| {
            Some(sample.wait.as_ref().and_then(WaitKind::lock).or(sample.holds.first())?.address)
        };
        rounds.iter().map(|round| round.iter().filter_map(number).collect()).collect()
    }

    #[test]
    fn a_lock_that_moves_is_one_lock() {
        let mut rounds = vec![
            vec![sample("get", Some(10), None), sample("put", Some(10), None), sample("hold", None, Some(10))],
            vec![sample("get", Some(20), None), sample("hold", None, Some(20))],
            vec![sample("put", Some(30), None)],
        ];
        settle(&mut rounds);
        let numbers: BTreeSet<_> = numbers(&rounds).into_iter().flatten().collect();
        assert_eq!(numbers.len(), 1, "{numbers:?}");
    }

    #[test]
    fn locks_of_one_site_stay_apart() {
        let mut rounds = vec![
            vec![sample("get", Some(10), None), sample("get", Some(20), None)],
            vec![sample("get", Some(10), None)],
        ];
        settle(&mut rounds);
        assert_eq!(numbers(&rounds), [vec![10, 20], vec![10]]);
    }
}

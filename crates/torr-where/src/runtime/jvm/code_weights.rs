//! The weights of Java's samples by the code that the kernel saw threads execute.
//!
//! A dump has stacks, but of the next safepoint, which may be in another function than the one that computes. The kernel has single
//! addresses, but of any moment. So each method's share of the addresses is divided among the stacks that it is on.

use super::compiled::CompiledCode;
use super::weights::{Group, is_of_kernel};
use crate::stack::{Frame, Stack, StackSample};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The fewest addresses that change weights.
const FEWEST: usize = 100;

/// Settles the weights of samples in Java's own code anew. Their sum stays as it is. Returns whether there were enough addresses.
pub fn settle(samples: &mut Vec<(Group, StackSample)>, addresses: &[u64], code: &CompiledCode) -> bool {
    if addresses.len() < FEWEST {
        return false;
    }
    let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
    addresses
        .iter()
        .filter_map(|&address| code.method(address))
        .for_each(|name| *counts.entry(name).or_default() += 1.0);
    let in_java: Vec<usize> = (0..samples.len()).filter(|&at| is_in_java(&samples[at].1)).collect();
    let on = stacks_by_method(samples, &in_java, &counts);
    let sum = |all: &[usize]| all.iter().map(|&at| samples[at].1.weight).sum::<f64>();
    let whole = sum(&in_java);
    if whole <= 0.0 {
        return false;
    }
    let mut weights = vec![0.0; samples.len()];
    let mut divide = |time: f64, stacks: &[usize]| {
        let before = sum(stacks);
        stacks.iter().for_each(|&at| weights[at] += time * samples[at].1.weight / before);
    };
    let time = |count: f64| whole * count / addresses.len() as f64;
    // Interpreted and native code does not say on which stacks it is.
    divide(time(addresses.len() as f64 - counts.values().sum::<f64>()), &in_java);
    let mut elsewhere = Vec::new();
    for (method, count) in &counts {
        match on.get(method).filter(|stacks| sum(stacks) > 0.0) {
            Some(stacks) => divide(time(*count), stacks),
            None => elsewhere.push((*method, time(*count))),
        }
    }
    let of = samples[in_java[0]].clone();
    in_java.iter().for_each(|&at| samples[at].1.weight = weights[at]);
    samples.extend(elsewhere.into_iter().map(|(method, time)| {
        let frame = Frame { function: method.to_owned(), ..Frame::default() };
        (of.0.clone(), StackSample { stack: Stack(vec![Arc::new(frame)]), weight: time, ..of.1.clone() })
    }));
    true
}

/// Returns the numbers of those samples whose stacks have a method, for each of the methods.
fn stacks_by_method<'m>(
    samples: &[(Group, StackSample)],
    in_java: &[usize],
    methods: &BTreeMap<&'m str, f64>,
) -> BTreeMap<&'m str, Vec<usize>> {
    let mut on: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for &at in in_java {
        let names: BTreeSet<String> = samples[at].1.stack.0.iter().map(|frame| name(frame)).collect();
        for (method, _) in names.iter().filter_map(|name| methods.get_key_value(name.as_str())) {
            on.entry(method).or_default().push(at);
        }
    }
    on
}

/// Returns whether a thread is in Java's own code: in no call of the kernel, and in no code of the JVM itself.
fn is_in_java(sample: &StackSample) -> bool {
    let is_of_jvm = sample.stack.leaf().is_none_or(|leaf| leaf.module == super::frames::JVM);
    !is_of_jvm && !is_of_kernel(sample)
}

/// Returns a method's name as a map of compiled code has it.
fn name(frame: &Frame) -> String {
    match frame.module.as_str() {
        "" => frame.function.clone(),
        package => format!("{package}.{}", frame.function),
    }
}

#[cfg(test)]
mod tests {
    use super::super::dump::Thread;
    use super::*;

    fn sample(methods: &[&str], weight: f64) -> (Group, StackSample) {
        let frame =
            |name: &&str| Arc::new(Frame { function: (*name).to_owned(), module: "shop".into(), ..Frame::default() });
        let stack = Stack(methods.iter().map(frame).collect());
        let sample = StackSample { process: 1, thread: 1, on_cpu: true, wait: None, holds: vec![], stack, weight };
        (Group::of(&Thread::default()), sample)
    }

    /// Returns the weights after so many addresses in each of the methods.
    fn weights(samples: Vec<(Group, StackSample)>, addresses: &[(&str, usize)]) -> Vec<f64> {
        let line = |(at, (name, _)): (usize, &(&str, usize))| format!("{:x} 10 void {name}()\n", (at + 1) * 0x100);
        let code = CompiledCode::parse(&addresses.iter().enumerate().map(line).collect::<String>());
        let all = addresses.iter().enumerate().flat_map(|(at, (_, count))| vec![(at as u64 + 1) * 0x100; *count]);
        let mut samples = samples;
        let all = all.collect::<Vec<_>>();
        assert_eq!(settle(&mut samples, &all, &code), all.len() >= FEWEST);
        samples.iter().map(|(_, sample)| (sample.weight * 1e6).round() / 1e6).collect()
    }

    #[test]
    fn stacks_at_safepoints_get_the_time_of_their_methods_only() {
        let samples =
            || vec![sample(&["Orders.count", "Orders.get"], 20.0), sample(&["Orders.send", "Orders.get"], 80.0)];
        let whole = weights(samples(), &[("shop.Orders.count", 90), ("shop.Orders.send", 10)]);
        assert_eq!(whole, [90.0, 10.0]);
        // What is on both stacks says nothing of either.
        let half = weights(samples(), &[("shop.Orders.count", 50), ("shop.Orders.get", 50)]);
        assert_eq!(half, [60.0, 40.0]);
    }

    #[test]
    fn a_method_that_is_on_no_stack_has_its_time_alone() {
        let samples = vec![sample(&["Orders.count"], 50.0), sample(&["Orders.send"], 50.0)];
        let all = weights(samples, &[("shop.Orders.hash", 60), ("shop.Orders.count", 40), ("", 100)]);
        assert_eq!(all, [45.0, 25.0, 30.0]);
    }

    #[test]
    fn few_addresses_change_nothing() {
        assert_eq!(weights(vec![sample(&["Orders.count"], 50.0)], &[("shop.Orders.hash", FEWEST - 1)]), [50.0]);
    }
}

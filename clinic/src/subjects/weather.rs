//! Faults beside programs that come and go, faults behind a rate that is kept, and two faults at once.

use super::node::node;
use crate::environment::hosts::Link;
use crate::subject::Subject;
use torr_gauge::Factor::{self, Bandwidth, CpuQuota, DelayedAck, RateLimit, SingleCore, Unknown, Workers};
use torr_gauge::machine::cpus;

/// The facts by which a verdict shows that responses stop now and then.
const STALLS: &[&str] = &["stalls", "threads-stopped", "tail"];
/// What shows why the responses of a rate that was kept are late.
const THROTTLED: &[&str] = &["throttled"];

pub fn subjects() -> Vec<Subject> {
    vec![
        // What neighbours hide need not be known; but no other factor may be named.
        Subject::fault("neighbours-node", SingleCore, |env| {
            env.neighbours(cpus());
            node(env, "300", 1)
        })
        .or(Unknown)
        .needs(&["node"]),
        Subject::fault("neighbours-workers", Workers, |env| {
            env.neighbours(cpus());
            env.service(&["--server", "pool=4", "--handler", "sleep=5ms"])
        })
        .or(Unknown),
        // Each request takes 30 ms of CPU, of which a period of 100 ms allows 25: six a second are all served, and late.
        Subject::fault("quota-behind-kept-rate", Factor::None, |env| {
            env.placement = env.quota(25)?;
            env.service(&["--server", "pool=2", "--handler", "burn=30ms", "--path", "/"])
        })
        .shows(THROTTLED)
        .with(&["-r", "6"])
        .for_root(),
        Subject::fault("stops-behind-kept-rate", Factor::None, |env| {
            let url = env.service(&["--handler", "async-sleep=1ms"])?;
            env.stop_now_and_then()?;
            Ok(url)
        })
        .shows(STALLS)
        .with(&["-r", "300"]),
        // Nothing of the server can be seen: neither its processes nor its quota.
        Subject::fault("quota-out-of-sight", CpuQuota, |env| {
            env.apart(&Link::Direct)?;
            env.generator = env.generator.clone().unseeing();
            let quota = env.quota(30)?;
            env.placement = quota.and(&env.placement);
            env.service(&["--server", "pool=8", "--handler", "burn=1ms", "--path", "/"])
        })
        .cured(|env| {
            env.apart(&Link::Direct)?;
            env.generator = env.generator.clone().unseeing();
            env.service(&["--server", "pool=8", "--handler", "burn=1ms", "--path", "/"])
        })
        .for_root(),
        // Each hides the sign of the other.
        Subject::fault("limiter-and-two-writes", RateLimit, |env| {
            env.service(&["--handler", "bucket=400", "--response", "two-writes"])
        })
        .or(DelayedAck)
        .cured(|env| env.service(&["--response", "two-writes"])),
        // 1,700 connections share a link: what one of them gets says nothing about the generator.
        Subject::fault("bandwidth-many-connections", Bandwidth, |env| {
            env.apart(&Link::Rate("500mbit"))?;
            Ok(env.torr_serve(&[])? + "/bytes/1000000")
        })
        .with(&["-c", "1700"])
        .for_root(),
    ]
}

//! The list of all subjects. Most faults stand beside another that looks alike.

mod advised;
mod beside;
mod connections;
mod contention;
mod cpu;
mod databases;
mod fronts;
mod healthy;
mod languages;
mod limits;
mod load;
mod located;
mod network;
mod node;
mod proxies;
mod weather;

use crate::subject::Subject;

/// Returns all subjects in the order of a round.
pub fn all() -> Vec<Subject> {
    let parts = [
        contention::subjects,
        cpu::subjects,
        databases::subjects,
        limits::subjects,
        network::subjects,
        connections::subjects,
        proxies::subjects,
        load::subjects,
        languages::subjects,
        fronts::subjects,
        beside::subjects,
        weather::subjects,
        located::subjects,
        healthy::subjects,
    ];
    parts.into_iter().flat_map(|part| part()).collect()
}

#[cfg(test)]
mod tests {
    use super::all;
    use std::collections::BTreeSet;
    use torr_gauge::Factor;

    /// Names the factors one by one, so that a new one cannot be forgotten here.
    fn next(factor: Factor) -> Option<Factor> {
        use Factor::*;
        Some(match factor {
            Generator => Connections,
            Connections => NetworkDelay,
            NetworkDelay => Bandwidth,
            Bandwidth => KeepAlive,
            KeepAlive => ClientPorts,
            ClientPorts => AcceptBacklog,
            AcceptBacklog => TlsHandshake,
            TlsHandshake => Proxy,
            Proxy => ServerCpu,
            ServerCpu => SingleCore,
            SingleCore => CpuQuota,
            CpuQuota => Workers,
            Workers => Database,
            Database => Orm,
            Orm => Lock,
            Lock => Pool,
            Pool => RateLimit,
            RateLimit => DelayedAck,
            DelayedAck => Errors,
            Errors => None,
            None => Unknown,
            Unknown => return Option::None,
        })
    }

    #[test]
    fn every_factor_has_a_fault() {
        let planted: BTreeSet<_> = all()
            .iter()
            .filter(|subject| subject.label.fault)
            .map(|subject| subject.label.main().to_string())
            .collect();
        let factors = std::iter::successors(Some(Factor::Generator), |factor| next(*factor));
        for factor in factors.filter(|factor| ![Factor::None, Factor::Unknown].contains(factor)) {
            assert!(planted.contains(&factor.to_string()), "no fault is labelled {factor}");
        }
    }

    #[test]
    fn names_are_unique_and_there_are_enough_of_each() {
        let subjects = all();
        let names: BTreeSet<_> = subjects.iter().map(|subject| subject.name).collect();
        assert_eq!(names.len(), subjects.len());
        let faults = subjects.iter().filter(|subject| subject.label.fault).count();
        assert!(faults >= 32 && subjects.len() - faults >= 7, "{faults} of {}", subjects.len());
        let cured = subjects.iter().filter(|subject| subject.cured.is_some()).count();
        assert!(cured >= 40, "{cured} of {faults} faults have a cured form");
    }
}

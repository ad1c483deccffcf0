//! The load generator itself.

use super::case::{FULL, HEADS, LIGHT, service, spread, thread, uses};
use super::{Row, check};
use serde_json::json;
use torr_gauge::verdict::ExperimentId;
use torr_gauge::{Confidence, Factor};

pub fn rows() -> Vec<Row> {
    use Confidence::{Certain, Likely};
    let fast = || service(2e-4, 60_000.0).empty(65_000.0, 15_000.0);
    let busy = || json!({"run": {"generator": {"busy_share": 0.98, "cpu_share": 0.96, "saturated": true}}});
    // Threads that want a CPU nine tenths of the time, and such that hardly want one but wait for it.
    let starved = |cpu: f64| json!({"run": {"generator": {"queued_share": 0.4, "busy_share": 0.7, "cpu_share": cpu}}});
    let idle = || uses(0.45, vec![thread(1, 0.3, 0.01), thread(2, 0.3, 0.01)]);
    let full = || uses(0.45, vec![thread(1, 0.97, 0.01), thread(2, 0.02, 0.01)]);
    let full_machine =
        || uses(1.0, vec![thread(1, 0.8, 0.3), thread(2, 0.7, 0.3), thread(3, 0.7, 0.3), thread(4, 0.7, 0.3)]);
    let quota = || json!({"own_quota": {"cgroup": "/g", "cores": 0.5, "periods": 100, "throttled_periods": 80}});
    vec![
        (
            "a full thread, and nothing does more here",
            fast().everywhere(busy()).everywhere(idle()),
            Factor::Generator,
            Certain,
        ),
        (
            "a full thread, and a second one raises throughput",
            fast()
                .empty(200_000.0, 50_000.0)
                .everywhere(busy())
                .everywhere(idle())
                .times(|id| id == ExperimentId::Threads(2), 1.8),
            Factor::Generator,
            Certain,
        ),
        (
            "a full thread, and a second one brings nothing",
            fast().empty(200_000.0, 50_000.0).everywhere(busy()).everywhere(idle()),
            Factor::Pool,
            Likely,
        ),
        (
            "full agents, and half of them bring half",
            fast()
                .load(|setting| (setting.agents, setting.has_null) = (Some(4), false))
                .everywhere(busy())
                .everywhere(idle())
                .times(|id| id == ExperimentId::Agents(2), 0.55),
            Factor::Generator,
            Certain,
        ),
        (
            "full agents, and half of them bring as much",
            fast()
                .load(|setting| (setting.agents, setting.has_null) = (Some(4), false))
                .everywhere(busy())
                .everywhere(idle()),
            Factor::Pool,
            Likely,
        ),
        (
            "the only agent is full",
            fast()
                .load(|setting| (setting.agents, setting.has_null) = (Some(1), false))
                .everywhere(busy())
                .everywhere(idle()),
            Factor::Generator,
            Likely,
        ),
        (
            "a full thread on all CPUs there are",
            fast()
                .load(|setting| (setting.threads, setting.generator_cpus, setting.has_null) = (1, 1, false))
                .everywhere(busy())
                .everywhere(idle()),
            Factor::Generator,
            Likely,
        ),
        (
            "the same, and it brings three times as much from a service that does nothing",
            fast()
                .empty(200_000.0, 50_000.0)
                .load(|setting| (setting.threads, setting.generator_cpus) = (1, 1))
                .everywhere(busy())
                .everywhere(idle()),
            Factor::Pool,
            Likely,
        ),
        (
            "a full thread of the server as well",
            fast().everywhere(busy()).everywhere(full()),
            Factor::SingleCore,
            Certain,
        ),
        (
            "a machine that the server fills",
            fast().everywhere(busy()).everywhere(full_machine()),
            Factor::ServerCpu,
            Likely,
        ),
        (
            "threads without a CPU, though the server gets what it asks for",
            fast().everywhere(starved(0.5)).everywhere(idle()),
            Factor::Generator,
            Certain,
        ),
        (
            "threads that wait for a CPU, but have little to do: two threads of the server share one CPU",
            service(1e-3, 1000.0)
                .load(|setting| (setting.threads, setting.generator_cpus) = (1, 1))
                .others_wait(9e-4)
                .everywhere(uses(0.6, vec![thread(1, 0.5, 0.05), thread(2, 0.5, 0.05)]))
                .everywhere(starved(0.05)),
            Factor::SingleCore,
            Likely,
        ),
        (
            "threads that are never idle, though fewer connections brought as much with time left: a full link",
            service(4e-3, 300.0)
                .body(50_000.0)
                .empty(350.0, 300.0)
                .times(HEADS, 8.0)
                .at(LIGHT, json!({"times": {"connect": spread(50.0, 0.05)}}))
                .at(FULL, busy()),
            Factor::Bandwidth,
            Certain,
        ),
        ("a quota of its own", service(5e-3, 800.0).everywhere(quota()).everywhere(idle()), Factor::Generator, Likely),
        ("a machine that is not seen", fast().unseen().everywhere(busy()), Factor::Generator, Certain),
        ("a generator that idles", service(5e-3, 800.0).unseen(), Factor::Unknown, Confidence::Unknown),
    ]
}

#[test]
fn a_saturated_generator_differs_from_a_saturated_server() {
    check(rows());
}

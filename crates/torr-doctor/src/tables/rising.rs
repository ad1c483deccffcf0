//! Throughput that grows with connections: too few of them, a long way, or a pace for each.

use super::case::{ALONE, service, uses, waiting};
use super::{Row, check};
use serde_json::json;
use torr_gauge::{Confidence, Factor};

pub fn rows() -> Vec<Row> {
    use Confidence::{Certain, Likely};
    let grows = || service(5e-3, 1e6);
    let stolen = json!({"signals": {"machine": {"cpu_share": 0.5, "steal_share": 0.25}}});
    let paced = json!({"times": {"sending_s": 4.5e-3}});
    vec![
        ("twice the connections bring twice as much", grows(), Factor::Connections, Certain),
        (
            "no more connections may be tried",
            grows().load(|setting| setting.max_connections = 64),
            Factor::Connections,
            Likely,
        ),
        ("the hypervisor takes a quarter of the machine", grows().everywhere(stolen), Factor::Connections, Likely),
        ("the way is most of the time", grows().rtt(4e-3), Factor::NetworkDelay, Certain),
        ("the way is a part of the time", grows().rtt(1e-3), Factor::Connections, Certain),
        ("each response is sent at a pace", grows().at(ALONE, paced.clone()), Factor::RateLimit, Likely),
        ("the pace is that of a long way", grows().rtt(2e-3).at(ALONE, paced), Factor::Connections, Certain),
        (
            "twice the connections bring nothing: four workers",
            service(5e-3, 800.0).others_wait(4e-3).everywhere(uses(0.1, waiting(4, "hrtimer_nanosleep"))),
            Factor::Workers,
            Certain,
        ),
        ("the user allows no more", grows().load(|setting| setting.max_rate = Some(13_000.0)), Factor::None, Likely),
    ]
}

#[test]
fn too_few_connections_differ_from_network_delay_and_pacing() {
    check(rows());
}

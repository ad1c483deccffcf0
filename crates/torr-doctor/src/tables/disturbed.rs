//! Other programs on the server's machine, and a hypervisor.

use super::case::{service, thread, uses};
use super::{Row, check};
use serde_json::json;
use torr_gauge::{Confidence, Factor};

pub fn rows() -> Vec<Row> {
    use Confidence::{Certain, Likely, Unknown};
    let slow = || service(1e-3, 1000.0);
    let starved = || uses(1.0, vec![thread(1, 0.5, 0.45), thread(2, 0.5, 0.45)]);
    let served = || uses(1.0, vec![thread(1, 0.97, 0.02), thread(2, 0.02, 0.0)]);
    let stolen = |share: f64| json!({"signals": {"machine": {"steal_share": share}}});
    vec![
        (
            "others use three CPUs of four, and the server waits for one",
            slow().everywhere(starved()),
            Factor::Unknown,
            Unknown,
        ),
        (
            "others use three CPUs of four, and the server gets its one",
            slow().everywhere(served()),
            Factor::SingleCore,
            Certain,
        ),
        (
            "the hypervisor takes a third, and the server waits for a CPU",
            slow()
                .everywhere(uses(1.0, vec![thread(1, 0.6, 0.3), thread(2, 0.6, 0.3), thread(3, 0.6, 0.3)]))
                .everywhere(stolen(0.35)),
            Factor::Unknown,
            Unknown,
        ),
        (
            "the hypervisor takes an eighth beside a full thread",
            slow().everywhere(uses(0.4, vec![thread(1, 0.85, 0.02), thread(2, 0.01, 0.0)])).everywhere(stolen(0.12)),
            Factor::SingleCore,
            Likely,
        ),
    ]
}

#[test]
fn a_machine_that_others_use_tells_only_of_what_gets_its_cpu() {
    check(rows());
}

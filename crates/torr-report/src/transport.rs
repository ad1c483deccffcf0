//! The HTTP version of a run and its datagrams in words.

use crate::human::{count, percent, plural};
use torr_gauge::datagrams::Datagrams;
use torr_gauge::result::{AltSvc, PlanSummary};

/// Returns the name of the HTTP version by which the requests of a plan go, where that is newer than HTTP/1.1.
pub fn newer_version(protocol: &str) -> Option<&'static str> {
    match protocol {
        "h2" => Some("HTTP/2"),
        "h3" => Some("HTTP/3"),
        _ => None,
    }
}

/// Returns the sentence of a server's offer that decided on the protocol of a run.
pub fn alt_svc(plan: &PlanSummary) -> Option<String> {
    let AltSvc { offer, port } = plan.alt_svc.as_ref()?;
    let version = newer_version(&plan.protocol).unwrap_or("HTTP/1.1");
    Some(match (port, offer.is_empty()) {
        (Some(port), _) if plan.protocol == "h3" => {
            format!("the server offers HTTP/3 on port {port}: this run uses it")
        }
        (Some(_), _) => format!("the server offers HTTP/3, which needs TLS 1.3: this run uses {version}"),
        (None, true) => format!("the server has no Alt-Svc field: this run uses {version}"),
        (None, false) => format!("the server offers no HTTP/3 ({offer}): this run uses {version}"),
    })
}

/// Returns the numbers of datagrams, of those that a system call sends or receives, of packets that were lost, and of datagrams that
/// kernels dropped.
pub fn datagrams(datagrams: &Datagrams) -> String {
    let per_call = |mean: Option<f64>| mean.map_or(String::new(), |mean| format!(" ({mean:.1} per system call)"));
    // Packets count when their connection ends.
    let lost = match (datagrams.lost_packets, datagrams.packets) {
        (_, 0) => String::new(),
        (0, _) => ", no packet lost".to_owned(),
        (lost, packets) => {
            let share = percent(lost as f64 / packets as f64);
            format!(", {} of {} lost ({share})", count(lost), plural(packets, "packet"))
        }
    };
    let dropped = match (datagrams.dropped, datagrams.server_dropped.unwrap_or(0)) {
        (0, 0) => String::new(),
        (here, 0) => format!(", {} dropped by the kernel before Torr read them", count(here)),
        (0, there) => format!(", {} dropped by the kernel before the server read them", count(there)),
        (here, there) => {
            format!(
                ", {} dropped by the kernel before Torr and {} before the server read them",
                count(here),
                count(there)
            )
        }
    };
    let (sent, received) = (per_call(datagrams.per_send), per_call(datagrams.per_receive));
    format!("{} sent{sent}, {} received{received}{lost}{dropped}", count(datagrams.sent), count(datagrams.received))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_offer_of_a_server_has_a_sentence() {
        let of = |protocol: &str, offer: &str, port| {
            let alt_svc = Some(AltSvc { offer: offer.into(), port });
            alt_svc_of(&PlanSummary { protocol: protocol.into(), alt_svc, ..PlanSummary::default() })
        };
        assert_eq!(of("h3", "h3=\":443\"", Some(443)), "the server offers HTTP/3 on port 443: this run uses it");
        assert_eq!(of("http/1.1", "", None), "the server has no Alt-Svc field: this run uses HTTP/1.1");
        assert_eq!(of("h2", "clear", None), "the server offers no HTTP/3 (clear): this run uses HTTP/2");
        let without = "the server offers HTTP/3, which needs TLS 1.3: this run uses HTTP/1.1";
        assert_eq!(of("http/1.1", "h3=\":443\"", Some(443)), without);
        assert_eq!(alt_svc(&PlanSummary::default()), None);
    }

    fn alt_svc_of(plan: &PlanSummary) -> String {
        alt_svc(plan).expect("there was an offer")
    }

    #[test]
    fn datagrams_have_their_calls_and_losses() {
        let of = |packets, lost_packets| Datagrams {
            sent: 1234,
            received: 5,
            per_send: Some(3.25),
            per_receive: None,
            packets,
            lost_packets,
            dropped: 0,
            receive_buffer: None,
            server_dropped: None,
        };
        assert_eq!(datagrams(&of(0, 0)), "1,234 sent (3.2 per system call), 5 received");
        assert_eq!(datagrams(&of(9, 0)), "1,234 sent (3.2 per system call), 5 received, no packet lost");
        assert!(datagrams(&of(1000, 12)).ends_with(", 12 of 1,000 packets lost (1.2%)"));
        let dropped = |dropped, server_dropped| Datagrams { dropped, server_dropped, ..of(0, 0) };
        assert!(datagrams(&dropped(0, Some(0))).ends_with("5 received"));
        assert!(datagrams(&dropped(1200, None)).ends_with(", 1,200 dropped by the kernel before Torr read them"));
        assert!(datagrams(&dropped(0, Some(7))).ends_with(", 7 dropped by the kernel before the server read them"));
        assert!(
            datagrams(&dropped(8, Some(7)))
                .ends_with(", 8 dropped by the kernel before Torr and 7 before the server read them")
        );
    }
}

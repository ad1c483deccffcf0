//! Connections that are opened over and over: keep-alive that is refused, and what TLS makes each of them cost.

use crate::evidence::Evidence;
use crate::experiment::{Request, Step};
use crate::thresholds::{
    ALL_AT_WORK, CLOSED_BY_SERVER, CONDITION_BETTER, CONNECTING_CERTAIN, CONNECTING_LIMITS, ESTIMATE_AGREES,
    HANDSHAKES_CERTAIN, HANDSHAKES_LIMIT, KEPT_BETTER, MACHINE_FULL, NO_DIFFERENCE, NOT_KEPT,
};
use crate::times::Spread;
use crate::words::{percent, rate, time};
use crate::{gain, keep_alive};
use torr_gauge::{Confidence, Factor, Gain, Verdict};

/// The advice for a server whose certificate has an RSA key.
pub const ECDSA: &str = "use an ECDSA certificate: its signatures cost a fraction of those of this server's RSA key";

pub fn rule(evidence: &Evidence) -> Step {
    let full = evidence.full();
    let opened = full.opened_per_request();
    if opened < NOT_KEPT {
        return Ok(None);
    }
    let times = evidence.alone().times;
    let all_s = |times: Option<Spread>| times.map_or(0.0, |times| times.sum_s());
    let all = all_s(times.answered).max(1e-9);
    let (connecting, securing) = (all_s(times.connect) / all, all_s(times.tls) / all);
    let by_cpu = evidence.figures.connecting_share(opened);
    let cost = Cost { opened, connecting, securing, by_cpu };
    let waits_on_the_way = evidence.figures.utilisation() > ALL_AT_WORK;
    let share = match by_cpu {
        // What a handshake of TLS costs, the service that does nothing does not show.
        Some(share) => share.max(if waits_on_the_way { connecting } else { 0.0 }).max(securing),
        None => connecting.max(securing),
    };
    if share < CONNECTING_LIMITS {
        return Ok(None);
    }
    if !evidence.setting.keep_alive {
        return offered(evidence, &cost);
    }
    let closed = full.run.connections.closed_by_server as f64 / full.run.connections.opened.max(1) as f64;
    if closed < CLOSED_BY_SERVER {
        return Ok(None);
    }
    if securing >= HANDSHAKES_LIMIT {
        return Ok(Some(handshakes(evidence, &cost)));
    }
    refused(evidence, &cost)
}

/// The cost of connections.
struct Cost {
    /// Connections opened for each response.
    opened: f64,
    /// Connecting's share of a single request's time.
    connecting: f64,
    /// The TLS handshakes' share of a single request's time.
    securing: f64,
    /// The share of this machine's throughput of connections.
    by_cpu: Option<f64>,
}

impl Cost {
    /// What connections cost, as evidence beside what was measured in turns. `ratio` is how many times the throughput kept connections
    /// brought. `None` where the estimate contradicts that: what was measured counts for more than what was estimated.
    fn in_words(&self, ratio: Option<f64>) -> Option<String> {
        let (share, in_words) = match self.by_cpu {
            Some(share) => (share, "at what a connection costs here, {} of the machine's work went into connections"),
            None => (self.connecting, "connecting took {} of a single request's time"),
        };
        let expected = 1.0 / (1.0 - share).max(0.01);
        let agrees = ratio.is_none_or(|ratio| (1.0 / ESTIMATE_AGREES..=ESTIMATE_AGREES).contains(&(expected / ratio)));
        agrees.then(|| in_words.replace("{}", &percent(share)))
    }
}

/// TLS handshakes are most of what is done.
fn handshakes(evidence: &Evidence, cost: &Cost) -> Verdict {
    let full = evidence.full();
    let tls = full.run.tls.clone().unwrap_or_default();
    let of = tls.full + tls.resumed;
    let is_busy = evidence.figures.full_threads() > 0
        || evidence.figures.machine_share().is_some_and(|share| share >= MACHINE_FULL);
    let confidence =
        if is_busy && cost.securing > HANDSHAKES_CERTAIN { Confidence::Certain } else { Confidence::Likely };
    let summary =
        "TLS handshakes are most of the work: each connection pays for one, and hardly any carries a second request.";
    let verdict = Verdict::new(Factor::TlsHandshake, confidence, summary)
        .because(format!(
            "{:.2} connections were opened for each response, although keep-alive was offered",
            cost.opened
        ))
        .because(format!("a handshake took {} of a single request's time", percent(cost.securing)))
        .because_counted(of, |of| format!("{} of {of} handshakes resumed an earlier session", tls.resumed))
        .because_if(evidence.figures.server_cores().map(|cores| format!("the server used {cores:.2} CPUs")));
    let verdict = match tls.resumed {
        0 => verdict
            .advice("let clients resume sessions: tickets (RFC 8446, section 4.6.1) save the certificate's signature"),
        _ => verdict,
    };
    let verdict = verdict.advice("keep connections alive: then a handshake is paid for once");
    let verdict = match tls.key.as_deref() {
        Some("RSA") => verdict.advice(ECDSA),
        _ => verdict,
    };
    // The rest of a request's time is needed with connections that are kept as well.
    verdict.gain(gain::by_kept_connections(cost.securing, &evidence.bounds()))
}

/// Examines whether keep-alive would help where the user's load has a connection for each request.
fn offered(evidence: &Evidence, cost: &Cost) -> Step {
    let way = |name, keep_alive| {
        let why = "what it would bring to keep connections";
        evidence.setting.user(name, why, 0.7).with(|load| load.keep_alive = keep_alive)
    };
    let ways = [way("a connection for each request", false), way("connections kept alive", true)];
    let contrast = evidence.in_turns(ways)?;
    if !contrast.is_above(KEPT_BETTER) {
        return Ok(None);
    }
    let secured = evidence.setting.tls && cost.securing > cost.connecting;
    let (factor, summary) = match secured {
        true => (Factor::TlsHandshake, "A TLS handshake for each request is most of the work."),
        false => (Factor::KeepAlive, "A connection for each request is most of the work."),
    };
    Ok(Some(
        Verdict::new(factor, Confidence::Certain, summary)
            .because(format!("{:.2} connections were opened for each response, as you asked", cost.opened))
            .because_if(cost.in_words(Some(contrast.of.ratio)))
            .because(format!("with connections kept alive {contrast}"))
            .advice("keep connections alive in the clients, or in a proxy before the service")
            .gain(gain::measured(&contrast.of, "with connections that are kept"))
            .verify(evidence.setting.commands.press_kept_alive(&[("-c", &evidence.setting.connections)])),
    ))
}

/// The server does not keep connections. Perhaps it does under another condition.
fn refused(evidence: &Evidence, cost: &Cost) -> Step {
    let closed_by_server = evidence.full().run.connections.closed_by_server;
    let opened = evidence.full().run.connections.opened;
    let verdict = Verdict::new(
        Factor::KeepAlive,
        Confidence::Likely,
        "The server closes connections that could be used again, so that nearly every request opens one.",
    )
    .because(format!(
        "{closed_by_server} of {opened} connections were closed by the server, though keep-alive was \
         offered: {:.1} responses each",
        1.0 / cost.opened
    ));
    let condition = keep_alive::found(evidence).and_then(|found| found.kept_if.first().copied());
    if let Some(condition) = condition {
        let way = |name, request| {
            let why = "whether the condition for keep-alive is this";
            evidence.setting.user(name, why, 0.7).with(|load| load.request = request)
        };
        let ways = [way("as your requests are", Request::Target), way(condition.what, condition.request)];
        let contrast = evidence.in_turns(ways)?;
        let verdict = verdict
            .because_if(cost.in_words(Some(contrast.of.ratio)))
            .because(format!("connections are kept {}: {contrast}", condition.what))
            .advice(format!("remove the condition: the server keeps connections alive only {}", condition.what))
            .gain(gain::measured(&contrast.of, "with connections that are kept"));
        let confidence = if contrast.is_above(CONDITION_BETTER) { Confidence::Certain } else { Confidence::Likely };
        return Ok(Some(Verdict { confidence, ..verdict }));
    }
    let way = |name, keep_alive| {
        let why = "whether it makes a difference to offer keep-alive";
        evidence.setting.user(name, why, 0.6).with(|load| load.keep_alive = keep_alive)
    };
    let contrast = evidence.in_turns([way("keep-alive offered", true), way("keep-alive not offered", false)])?;
    // One that does no more than the target, which opens a connection for each request, is no yardstick.
    let connecting = evidence.figures.null_rps_connecting.filter(|&connecting| connecting >= evidence.figures.rps());
    let null = evidence.figures.null_rps;
    let alone = time(evidence.figures.alone_mean_s);
    let verdict = verdict
        .because_if(cost.in_words(None))
        .because(format!("when it was not offered at all, {contrast}"))
        .because_if(null.zip(connecting).filter(|(null, connecting)| connecting <= null).map(|(null, connecting)| {
            format!(
                "a service that does nothing reaches {} here with connections kept, {} without",
                rate(null),
                rate(connecting)
            )
        }))
        .advice("turn keep-alive on in the server, or find what turns it off: HTTP/1.0, a limit of requests, a proxy")
        .gain(match cost.by_cpu {
            Some(share) => gain::by_kept_connections(share, &evidence.bounds()),
            None => Gain::unknown(
                format!("{} of the {alone} that a request takes", percent(cost.connecting)),
                "what a connection costs here was not measured",
            ),
        });
    let sure = contrast.of.low > NO_DIFFERENCE.0
        && contrast.of.high < NO_DIFFERENCE.1
        && cost.by_cpu.is_some_and(|share| share >= CONNECTING_CERTAIN);
    let confidence = if sure { Confidence::Certain } else { Confidence::Likely };
    Ok(Some(Verdict { confidence, ..verdict }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_that_contradicts_the_measurement_is_not_reported() {
        let cost = |by_cpu| Cost { opened: 1.0, connecting: 0.6, securing: 0.0, by_cpu };
        let in_words = |by_cpu, ratio| cost(by_cpu).in_words(ratio);
        // 15% of the work cannot become 27 times as many.
        assert_eq!(in_words(Some(0.15), Some(26.97)), None);
        assert_eq!(in_words(None, Some(26.97)), None);
        let share = "at what a connection costs here, 63% of the machine's work went into connections";
        assert_eq!(in_words(Some(0.63), Some(4.02)).as_deref(), Some(share));
        assert_eq!(in_words(Some(0.63), None).as_deref(), Some(share));
        assert_eq!(in_words(None, Some(2.5)).as_deref(), Some("connecting took 60% of a single request's time"));
    }
}

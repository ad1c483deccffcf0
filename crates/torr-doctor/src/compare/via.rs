//! A service asked directly, and through the proxy before it: what the proxy and the hop cost.

use super::measuring::Turns;
use super::row::cpu_us;
use super::{Comparison, Conclusion, Kind, Row, Way, finish};
use crate::invocation::{Flag, Invocation};
use crate::laboratory::{Halt, Laboratory, Patient};
use crate::trail::{Step, Trial};
use crate::turns::Ratio;
use crate::words::{percent, rate, time};
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use torr_gauge::signals::PeerUse;
use torr_net::Address;

/// Connections to the service for each request, from which the proxy does not keep them.
const CHURN: f64 = 0.3;
/// The share of connections that is kept between two looks where they are kept alive, and where they are not.
const KEPT: f64 = 0.9;
const NOT_KEPT: f64 = 0.6;

/// Compares a service that is asked directly with the same through a proxy: two ways, in this order.
///
/// # Errors
/// [`Halt`].
pub fn via(
    patient: &Patient,
    ways: &[Way<'_>; 2],
    stop: &AtomicBool,
    tell: &mut dyn FnMut(Step<'_>),
) -> Result<Comparison, Halt> {
    let mut lab = Laboratory::open(patient, None, stop, tell);
    let turns = Turns::of(&mut lab, ways, "what the proxy costs")?;
    let mut rows = turns.rows(&lab, ways.iter().map(|way| way.name.as_str()));
    let direct: Vec<SocketAddr> = ways[0].plan.addresses.iter().filter_map(Address::tcp).collect();
    look_behind(&mut rows[1], [&turns.trials(&lab, 0), &turns.trials(&lab, 1)], &direct);
    let conclusion = conclude(&rows, turns.ratio(&lab, 0, 1), verify(&patient.again, ways));
    Ok(finish(Kind::Via, lab, &turns, rows, conclusion))
}

/// Who listens at the proxy's address is the proxy; the service is whom it talks to.
fn look_behind(row: &mut Row, [directly, through]: [&[&Trial]; 2], direct: &[SocketAddr]) {
    row.proxy_us = row.server_us.take();
    let processes = |trial| service(trial, direct).map_or(&[][..], |peer: &PeerUse| &peer.processes);
    row.server_us = cpu_us(through, processes);
    row.upstream_opened_per_request = opened_by_others(directly).zip(opened_by_others(through)).map(|(usual, seen)| {
        let answers_per_s = seen.answers as f64 / seen.seconds;
        (seen.per_s() - usual.per_s()).max(0.0) / answers_per_s.max(0.01)
    });
    let kept: Vec<_> = through.iter().filter_map(|trial| service(trial, direct)?.kept).collect();
    row.upstream_kept = (!kept.is_empty()).then(|| kept.iter().sum::<f64>() / kept.len() as f64);
}

/// Connections on the server's machine that are not the generator's.
struct Others {
    opened: u64,
    answers: u64,
    seconds: f64,
}

impl Others {
    fn per_s(&self) -> f64 {
        self.opened as f64 / self.seconds
    }
}

/// How many there were. Without the proxy they are those of programs that have nothing to do with it.
fn opened_by_others(trials: &[&Trial]) -> Option<Others> {
    let mut all = Others { opened: 0, answers: 0, seconds: 0.0 };
    for trial in trials {
        all.opened += trial.opened_by_others()?;
        all.answers += trial.answers();
        all.seconds += trial.signals.as_ref()?.seconds;
    }
    (all.seconds > 0.0).then_some(all)
}

/// The service among those that the proxy talks to.
fn service<'t>(trial: &'t Trial, direct: &[SocketAddr]) -> Option<&'t PeerUse> {
    let peers = &trial.signals.as_ref()?.peers;
    let is_it = |peer: &&PeerUse| peer.address.parse().is_ok_and(|address| direct.contains(&address));
    peers.iter().find(is_it)
}

fn conclude(rows: &[Row], ratio: Ratio, verify: String) -> Conclusion {
    let (direct, through) = (&rows[0], &rows[1]);
    let interval = format!("{}, {} rounds", ratio.told(), ratio.pairs);
    let summary = match () {
        () if ratio.is_below(1.0) => {
            format!("The proxy costs {} of the throughput ({interval}).", percent(1.0 - ratio.ratio))
        }
        () if ratio.is_above(1.0) => format!(
            "Through the proxy the service gives {} more than directly ({interval}): it spares the service something.",
            percent(ratio.ratio - 1.0)
        ),
        () if ratio.is_vague() => format!(
            "What the proxy costs cannot be told: throughput varies too much ({interval}). Give a longer --budget, on machines \
             where nothing else runs."
        ),
        () => format!("The proxy costs nothing that can be told from chance ({interval})."),
    };
    let opened = through.upstream_opened_per_request;
    let churns = match (opened, through.upstream_kept) {
        // A proxy that keeps connections still changes them after so many requests, which at high rates is soon. And what was
        // opened may have been by others.
        (Some(opened), kept) => opened > CHURN && kept.is_none_or(|kept| kept < KEPT),
        (None, Some(kept)) => kept < NOT_KEPT,
        (None, None) => false,
    };
    let because = [
        Some(format!("directly {}, through the proxy {}", rate(direct.rps), rate(through.rps))),
        direct.p50_us.zip(through.p50_us).map(|(direct, through)| {
            format!(
                "the median response time went from {} to {}",
                time(direct as f64 / 1e6),
                time(through as f64 / 1e6)
            )
        }),
        through.proxy_us.map(|proxy| match through.server_us {
            Some(server) => format!("an answer costs the proxy {proxy:.0} us of CPU, and the service {server:.0} us"),
            None => format!("an answer costs the proxy {proxy:.0} us of CPU"),
        }),
        through
            .upstream_opened_per_request
            .map(|opened| format!("the proxy opened about {opened:.2} connections to the service for each request")),
        through
            .upstream_kept
            .filter(|_| opened.is_none())
            .map(|kept| format!("{} of its connections to the service were still there a moment later", percent(kept))),
    ];
    let costs = ratio.is_below(1.0);
    let keep = "keep the proxy's connections to the service alive: in nginx 'keepalive' in the upstream block, \
                'proxy_http_version 1.1' and an empty Connection header";
    let is_unseen = opened.is_none() && through.upstream_kept.is_none();
    let advice = [
        (churns || (is_unseen && costs)).then(|| keep.to_owned()),
        costs.then(|| "write no line for each request: in nginx 'access_log off'".to_owned()),
        costs.then(|| "let the proxy answer what needs no service, such as static files".to_owned()),
    ];
    Conclusion {
        summary,
        because: because.into_iter().flatten().chain(rows.iter().flat_map(Row::doubts)).collect(),
        advice: advice.into_iter().flatten().collect(),
        verify: Some(verify),
    }
}

/// The same again, after something was changed.
fn verify(again: &Invocation, [direct, through]: &[Way<'_>; 2]) -> String {
    let flags: &[Flag<'_>] = &[("--via", &through.plan.target.url), ("-c", &direct.plan.connections)];
    again.doctor_at(Some(&direct.plan.target.url), flags)
}

//! A service asked directly, and through the proxy before it: what the proxy and the hop cost.

use super::measuring::Turns;
use super::row::cpu_us;
use super::{Comparison, Conclusion, Kind, Row, Way, finish};
use crate::laboratory::{Halt, Laboratory, Patient};
use crate::trail::{Step, Trial};
use crate::turns::Ratio;
use crate::words::{percent, rate, time};
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use torr_gauge::signals::PeerUse;
use torr_net::Address;
use torr_press::Plan;

/// Connections to the service for each request, from which the proxy does not keep them.
const CHURN: f64 = 0.3;
/// The share of connections that must be kept between two looks, for them to be kept alive.
const KEPT: f64 = 0.6;

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
    look_behind(&mut rows[1], &turns.trials(&lab, 1), &direct);
    let conclusion = conclude(&rows, turns.ratio(&lab, 0, 1), ways);
    Ok(finish(Kind::Via, lab, &turns, rows, conclusion))
}

/// Who listens at the proxy's address is the proxy; the service is whom it talks to.
fn look_behind(row: &mut Row, trials: &[&Trial], direct: &[SocketAddr]) {
    row.proxy_us = row.server_us.take();
    let processes = |trial| service(trial, direct).map_or(&[][..], |peer: &PeerUse| &peer.processes);
    row.server_us = cpu_us(trials, processes);
    let mean = |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    row.upstream_opened_per_request = mean(trials.iter().filter_map(|trial| trial.upstream_opens()).collect());
    row.upstream_kept = mean(trials.iter().filter_map(|trial| service(trial, direct)?.kept).collect());
}

/// The service among those that the proxy talks to.
fn service<'t>(trial: &'t Trial, direct: &[SocketAddr]) -> Option<&'t PeerUse> {
    let peers = &trial.signals.as_ref()?.peers;
    let is_it = |peer: &&PeerUse| peer.address.parse().is_ok_and(|address| direct.contains(&address));
    peers.iter().find(is_it)
}

fn conclude(rows: &[Row], ratio: Ratio, ways: &[Way<'_>; 2]) -> Conclusion {
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
        () => format!("The proxy costs nothing that can be told from chance ({interval})."),
    };
    let churn = through.upstream_opened_per_request.filter(|&opened| opened > CHURN);
    let is_kept = through.upstream_kept.is_none_or(|kept| kept >= KEPT);
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
            .map(|opened| format!("the proxy opened {opened:.2} connections to the service for each request")),
        through.upstream_kept.filter(|_| !is_kept && churn.is_none()).map(|kept| {
            format!("only {} of its connections to the service were still there a moment later", percent(kept))
        }),
    ];
    let costs = ratio.is_below(1.0);
    let keep = "keep the proxy's connections to the service alive: in nginx 'keepalive' in the upstream block, \
                'proxy_http_version 1.1' and an empty Connection header";
    let unseen = through.upstream_opened_per_request.is_none() && through.upstream_kept.is_none();
    let advice = [
        (churn.is_some() || !is_kept || (unseen && costs)).then(|| keep.to_owned()),
        costs.then(|| "write no line for each request: in nginx 'access_log off'".to_owned()),
        costs.then(|| "let the proxy answer what needs no service, such as static files".to_owned()),
    ];
    Conclusion {
        summary,
        because: because.into_iter().flatten().chain(rows.iter().filter_map(Row::failures)).collect(),
        advice: advice.into_iter().flatten().collect(),
        verify: Some(verify(&ways[0].plan, &ways[1].plan)),
    }
}

/// The same again, after something was changed.
fn verify(direct: &Plan, through: &Plan) -> String {
    format!("torr doctor {} --via {} -c {}", direct.target.url, through.target.url, direct.connections)
}

//! A proxy in between: what is behind it is asked directly, where that can be found.

use crate::contrast::Contrast;
use crate::laboratory::Halt;
use crate::ward::Ward;
use crate::words::{percent, rate};
use std::net::SocketAddr;
use torr_gauge::signals::Role;
use torr_gauge::{Confidence, Factor, Verdict};
use torr_press::Plan;

/// The share of connections that must be kept between two looks, for them to be kept alive.
const KEPT: f64 = 0.6;
/// Answers directly for each through the proxy, from which the proxy is what limits.
const BETTER: f64 = 1.25;

pub fn rule(ward: &mut Ward<'_>) -> Result<Option<Verdict>, Halt> {
    let behind = ward.case.peers().filter(|peer| peer.role == Role::Other && !peer.processes.is_empty());
    let candidates: Vec<_> =
        behind.filter_map(|peer| Some((peer.clone(), peer.address.parse::<SocketAddr>().ok()?))).collect();
    for (peer, address) in candidates.into_iter().take(2) {
        let direct = Plan { addresses: vec![address.into()], ..ward.user_plan(0.7) };
        let once = Plan { connections: 1, requests: Some(3), ..direct.clone() };
        let name = format!("three requests to {address}");
        let same = match ward.lab.run(&name, "whether the server behind it gives the same answer", &once) {
            Ok(trial) => trial.run.status.keys().copied().collect::<Vec<_>>(),
            Err(Halt::Run(_)) => continue,
            Err(halt) => return Err(halt),
        };
        if !same.iter().all(|status| ward.alone_trial().run.status.contains_key(status)) || same.is_empty() {
            continue;
        }
        let through = ward.user_plan(0.7);
        let names = ("through the proxy", format!("directly to {address}"));
        let contrast = Contrast::of(&mut ward.lab, (names.0, &through), (&names.1, &direct), "what the proxy costs")?;
        let opened = ward.full_trial().upstream_opens();
        // A proxy that keeps connections changes them after so many requests (nginx: 1,000), which at high rates is soon: what
        // it opens for each request tells more than whether a connection is still there.
        let churns = opened.map_or(peer.kept.is_some_and(|kept| kept < KEPT), |opened| opened > 0.3);
        let full = ward.case.machine_share().is_some_and(|share| share > 0.93);
        if !contrast.is_above(BETTER) {
            // What is behind it is the limit, so that is what the rules after this one look at.
            ward.case.look_behind(&peer);
            continue;
        }
        if full && !churns {
            continue;
        }
        let name = peer.processes.first().map_or("the service", |process| &process.name);
        let verdict = Verdict::new(Factor::Proxy, Confidence::Certain, "The proxy before the service is the limit.")
            .because(format!("asked directly, {name} at {address} answers {contrast}"))
            .because_if(churns.then(|| match opened {
                Some(opened) => format!("the proxy opens {opened:.2} connections to it for each request"),
                None => format!(
                    "only {} of the proxy's connections to it were still there a moment later",
                    percent(peer.kept.unwrap_or(0.0))
                ),
            }))
            .because_if((!churns).then(|| {
                format!("the proxy had {:.1} connections to it, at most {}", peer.connections, peer.connections_max)
            }))
            .because_if(ward.case.server_cores().map(|cores| {
                format!("the proxy itself used {cores:.2} CPUs, with {} full threads", ward.case.full_threads())
            }));
        let verdict = match churns {
            true => verdict.advice("keep connections to the upstream alive: in nginx 'keepalive' in the upstream block, 'proxy_http_version 1.1' and an empty Connection header"),
            false => verdict.advice("look for the proxy's limits: connections to the upstream (maxconn), workers, compression, its log (access_log off)"),
        };
        return Ok(Some(
            verdict
                .gain(format!("at most {:.1} times the throughput, {}", contrast.ratio, rate(contrast.rates.1)))
                .verify({
                    let target = &ward.lab.patient.plan.target;
                    format!("torr doctor http://{address}{} --via {}", target.path(), target.url)
                }),
        ));
    }
    Ok(None)
}

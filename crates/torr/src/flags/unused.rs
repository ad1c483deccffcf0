//! Flags of a URL that have no effect on a run, which are reported to its user.

use crate::output;
use torr_load::{Load, Part, Resolved};
use torr_press::{Plan, Requests, Target};

/// Prints a line for each flag that has no effect on a plan whose requests are those of URLs.
pub fn note(load: &Load, plan: &Plan, requests: &Requests) {
    lines(load, plan, requests).iter().for_each(|line| output::note(line));
}

fn lines(load: &Load, plan: &Plan, requests: &Requests) -> Vec<String> {
    let (request, transport) = (&load.request, &load.transport);
    let of_tls = load.given().into_iter().filter(|given| given.setting().is_some_and(|one| one.part == Part::Tls));
    let tls = of_tls.map(|given| given.name).filter(|_| !plan.target.tls);
    let tls = tls.map(|flag| format!("{flag} has no effect: the URL is not https://"));
    let to = transport.proxy.as_deref().and_then(|proxy| Target::parse(proxy).ok());
    let to = to.as_ref().unwrap_or(&plan.target);
    let is_other = |given: &&Resolved| !given.is_for(&to.host, to.port);
    let resolved = transport.resolve.iter().map(|given| &**given).filter(is_other).map(|given| {
        let (host, port) = (&given.host, given.port);
        format!("--resolve for {host}:{port} has no effect: the load goes to {}", to.host_and_port())
    });
    let feeder = request.feeder.as_ref().filter(|_| !requests.takes_records());
    let feeder = feeder.map(|path| {
        let path = path.display();
        format!("--feeder has no effect: no placeholder such as {{{{NAME}}}} uses a field of {path}")
    });
    tls.chain(resolved).chain(feeder).collect()
}

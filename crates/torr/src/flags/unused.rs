//! Flags of a URL that have no effect on a run, which are reported to its user.

use super::request::RequestArgs;
use super::tls::{TlsArgs, TlsResumption};
use super::transport::{Resolved, TransportArgs};
use crate::output;
use torr_press::{Plan, Requests, Target};

/// Prints a line for each flag that has no effect on a plan whose requests are those of URLs.
pub fn note(request: &RequestArgs, transport: &TransportArgs, plan: &Plan, requests: &Requests) {
    lines(request, transport, plan, requests).iter().for_each(|line| output::note(line));
}

fn lines(request: &RequestArgs, transport: &TransportArgs, plan: &Plan, requests: &Requests) -> Vec<String> {
    let tls = transport.tls.given().into_iter().filter(|_| !plan.target.tls);
    let tls = tls.map(|flag| format!("{flag} has no effect: the URL is http://, not https://"));
    let to = transport.proxy.as_deref().and_then(|proxy| Target::parse(proxy).ok());
    let to = to.as_ref().unwrap_or(&plan.target);
    let is_other = |given: &&Resolved| !given.is_for(&to.host, to.port);
    let resolved = transport.resolve.iter().filter(is_other).map(|given| {
        let (host, port) = (&given.host, given.port);
        format!("--resolve for {host}:{port} has no effect: the load goes to {}", to.host_and_port())
    });
    let feeder = request.feeder.as_ref().filter(|_| !requests.takes_records());
    let feeder = feeder.map(|path| {
        let path = path.display();
        format!("--feeder has no effect: no placeholder such as {{{{NAME}}}} takes a field of {path}")
    });
    tls.chain(resolved).chain(feeder).collect()
}

impl TlsArgs {
    /// Returns the flags of TLS that were given.
    fn given(&self) -> Vec<&'static str> {
        let given = [
            ("--cacert", self.cacert.is_some()),
            ("--insecure", self.insecure),
            ("--cert", self.cert.is_some()),
            ("--key", self.key.is_some()),
            ("--sni", self.sni.is_some()),
            ("--tlsv1.2", self.tlsv1_2),
            ("--tlsv1.3", self.tlsv1_3),
            ("--tls-max", self.tls_max.is_some()),
            ("--tls-resumption", self.tls_resumption != TlsResumption::On),
        ];
        given.into_iter().filter(|(_, is_given)| *is_given).map(|(flag, _)| flag).collect()
    }
}

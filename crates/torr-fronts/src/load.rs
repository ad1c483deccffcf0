//! The load that a front end asks for, and the plan of it.

use crate::error::FrontError;
use crate::tls::TlsArgs;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;
use torr_net::address;
use torr_net::tls::{Identity, Roots, TlsSettings, Versions};
use torr_press::request::{Body, Data, Options};
use torr_press::{Arrivals, Inspection, Pace, Plan, ProtocolConfig, Requests, Schedule, Target};

/// The time-out of connecting to each of several addresses.
const TRIAL: Duration = Duration::from_secs(3);

/// The load that a front end asks for.
#[derive(Debug)]
pub struct FrontLoad {
    /// The service.
    pub target: Target,
    /// The requests.
    pub request: Requests,
    /// The address to connect from.
    pub source: Option<IpAddr>,
    /// Concurrent connections.
    pub connections: u64,
    /// Threads.
    pub threads: u64,
    /// The time after which the load ends.
    pub duration: Option<Duration>,
    /// The number of requests after which the load ends.
    pub requests: Option<u64>,
    /// The schedule of an open loop.
    pub schedule: Option<Schedule>,
    /// Whether connections are kept alive.
    pub keep_alive: bool,
    /// The time-out of a response.
    pub timeout: Duration,
    /// TLS options.
    pub tls: TlsArgs,
    /// A proxy's host and port.
    pub proxy: Option<(String, u16)>,
    /// Name and password for the proxy, with a colon between them, where it is a tunnel.
    pub proxy_user: Option<String>,
    /// Whether to keep what only some programs show: the first response, and times from the connection on.
    pub detailed: bool,
    /// The script that makes the requests, with its arguments.
    pub script: Option<(PathBuf, Vec<String>)>,
}

impl FrontLoad {
    /// Returns a closed loop with keep-alive and without an end.
    pub fn new(target: Target, request: Requests, (connections, threads): (u64, u64), timeout: Duration) -> Self {
        Self {
            target,
            request,
            source: None,
            connections,
            threads,
            duration: None,
            requests: None,
            schedule: None,
            keep_alive: true,
            timeout,
            tls: TlsArgs::default(),
            proxy: None,
            proxy_user: None,
            detailed: false,
            script: None,
        }
    }

    /// Returns the plan of the load without its script. Resolves the target's name, and connects to find the address.
    ///
    /// # Errors
    /// If there is no address, or a file of the TLS options cannot be used.
    pub fn plan(self) -> Result<Plan, FrontError> {
        let address = self.address()?;
        let tls = self.target.tls.then(|| TlsSettings {
            roots: if self.tls.verify { Roots::System } else { Roots::AcceptAny },
            versions: self.tls.versions.unwrap_or(Versions::Both),
            identity: self.tls.identity.map(|file| Identity::Files(file.clone().into(), file.into())),
            sends_name: !self.tls.no_sni,
            ..TlsSettings::new(&self.target.host)
        });
        let tls = tls.map(|settings| settings.load()).transpose().map_err(FrontError::usage)?;
        Ok(Plan {
            sources: self.source.into_iter().collect(),
            protocol: ProtocolConfig { tls, http2: false, http3: false, grpc: None },
            tunnel: (self.proxy.is_some() && self.target.tls)
                .then(|| self.target.connect_request(self.proxy_user.as_deref())),
            connections: usize::try_from(self.connections).unwrap_or(usize::MAX),
            threads: usize::try_from(self.threads).unwrap_or(usize::MAX),
            duration: self.duration,
            requests: self.requests,
            pace: self.schedule.map_or(Pace::closed(None), |schedule| Pace::Open(schedule, Arrivals::Constant)),
            keep_alive: self.keep_alive,
            timeout: self.timeout,
            detailed: self.detailed,
            inspection: Inspection { keep_first: self.detailed, ..Inspection::default() },
            ..Plan::new(self.target, vec![address.into()], self.request)
        })
    }

    /// Returns the first address that accepts a connection, as these programs choose it.
    fn address(&self) -> Result<SocketAddr, FrontError> {
        let target = (self.target.host.clone(), self.target.port);
        let (host, port) = self.proxy.as_ref().unwrap_or(&target);
        let mut all =
            address::resolve(host, *port).map_err(|_| FrontError::Unreachable(format!("cannot resolve '{host}'")))?;
        if let Some(source) = self.source {
            if !address::is_local(source) {
                return Err(FrontError::Usage(format!("cannot connect from {source}: not an address of this machine")));
            }
            all.retain(|to| to.is_ipv4() == source.is_ipv4());
        }
        let accepts = |address: &&SocketAddr| TcpStream::connect_timeout(address, TRIAL).is_ok();
        let chosen = if all.len() > 1 { all.iter().find(accepts).or(all.first()) } else { all.first() };
        let family = || {
            FrontError::Usage(format!(
                "'{host}' has no address of the same family (IPv4 or IPv6) as the source address"
            ))
        };
        chosen.copied().ok_or_else(family)
    }
}

/// Returns a request of these parts, unchanged.
pub(crate) fn request(
    target: &Target,
    method: &str,
    headers: Vec<String>,
    body: Option<&str>,
    keep_alive: bool,
) -> Result<Requests, FrontError> {
    let options = Options {
        method: Some(method.to_owned()),
        headers,
        body: body.map(|body| Body::Data(vec![Data::Plain(body.as_bytes().to_vec())])),
        keep_alive,
        templates: false,
        ..Options::default()
    };
    Requests::new(&[target.clone().into()], &options).map_err(FrontError::usage)
}

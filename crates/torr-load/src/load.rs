//! A load as a value.

use crate::file_source::FileSource;
use crate::parts::checks::CheckPart;
use crate::parts::grpc::GrpcPart;
use crate::parts::output::OutputPart;
use crate::parts::pace::PacePart;
use crate::parts::request::RequestPart;
use crate::parts::session::SessionPart;
use crate::parts::stream::StreamPart;
use crate::parts::transport::TransportPart;
use std::path::PathBuf;

/// A load that a user asks for. A field without a value leaves the setting at its default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Load {
    /// A URL, hurl files with their weights, a script, or a plan.
    pub targets: Vec<String>,
    /// The arguments of the script.
    pub arguments: Vec<String>,
    /// How hard and how long the load is.
    pub pace: PacePart,
    /// What is sent.
    pub request: RequestPart,
    /// How a `grpc://` URL is called.
    pub grpc: GrpcPart,
    /// The script that makes the requests.
    pub script: Option<PathBuf>,
    /// The way to the service.
    pub transport: TransportPart,
    /// What is expected of each response.
    pub checks: CheckPart,
    /// How streams of events are read.
    pub stream: StreamPart,
    /// What only sessions have.
    pub session: SessionPart,
    /// Outputs and thresholds.
    pub output: OutputPart,
}

impl Load {
    /// Lets the load read its files from a source.
    pub fn take_files_from(&mut self, source: &FileSource) {
        self.request.files = source.clone();
        self.checks.files = source.clone();
        self.transport.tls.files = source.clone();
    }

    /// Returns the load for another target.
    #[must_use]
    pub fn to(&self, target: Option<&str>, keep_alive: bool) -> Self {
        let mut load = self.clone();
        load.targets = target.map(str::to_owned).into_iter().collect();
        load.pace.no_keepalive = !keep_alive;
        load
    }

    /// Returns the load with the protocol that is used without an offer of the server.
    #[must_use]
    pub fn without_alt_svc(&self) -> Self {
        let mut load = self.clone();
        load.transport.alt_svc = false;
        load
    }

    /// Returns whether the load consists of calls of gRPC.
    pub fn is_grpc(&self) -> bool {
        self.targets.first().is_some_and(|target| is_grpc(target))
    }

    /// Returns whether connections are used again.
    pub fn keep_alive(&self) -> bool {
        !self.pace.no_keepalive
    }

    /// Moves the words after the URL of a script from the targets to the script's arguments.
    pub fn take_arguments(&mut self) {
        if self.script.is_some() && self.targets.len() > 1 {
            self.arguments = self.targets.split_off(1);
        }
    }
}

/// Returns whether a URL is that of a method of gRPC.
pub fn is_grpc(url: &str) -> bool {
    let begins = |scheme: &str| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    begins("grpc://") || begins("grpcs://")
}

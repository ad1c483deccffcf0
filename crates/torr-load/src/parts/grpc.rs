//! Calls of gRPC.

use crate::parsed::Parsed;
use crate::values::GrpcEncoding;
use std::path::PathBuf;
use std::time::Duration;

/// How a `grpc://` URL is called.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GrpcPart {
    /// The `.proto` files that describe the service.
    pub proto: Vec<String>,
    /// The directories of the files that these import.
    pub proto_path: Vec<String>,
    /// The descriptor set that describes the service.
    pub protoset: Option<PathBuf>,
    /// Whether the server describes the service.
    pub reflection: bool,
    pub deadline: Option<Parsed<Duration>>,
    pub encoding: Option<Parsed<GrpcEncoding>>,
}

impl GrpcPart {
    /// Returns whether messages are compressed by gzip.
    pub fn is_gzip(&self) -> bool {
        self.encoding.as_deref() == Some(&GrpcEncoding::Gzip)
    }
}

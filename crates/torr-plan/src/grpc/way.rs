//! The way of calls to a service: those of the run, and those before it.

use crate::error::PlanError;
use crate::transport;
use std::time::Duration;
use torr_load::{Load, TransportPart};
use torr_press::request::{Body, Encoder, Options};
use torr_press::{GrpcMethod, Plan, ProtocolConfig, Requests, Target};

/// The media type of messages.
const MEDIA_TYPE: &str = "application/grpc";

/// Returns a body whose content an encoder makes.
pub(super) fn encoded(text: Vec<u8>, encoder: Encoder) -> Body {
    Body::Encoded { text, encoder, media_type: MEDIA_TYPE.to_owned() }
}

/// The way to a service.
#[derive(Clone, Copy)]
pub(super) struct Way<'l> {
    pub load: &'l Load,
    pub transport: &'l TransportPart,
    pub target: &'l Target,
}

impl Way<'_> {
    /// Returns the plan of calls of the method at a target.
    pub fn plan(&self, target: Target, options: &Options, grpc: GrpcMethod) -> Result<Plan, PlanError> {
        let requests = Requests::new(&[target.clone().into()], options).map_err(PlanError::usage)?;
        let plan = transport::plan(self.load, self.transport, target, requests)?;
        Ok(Plan { protocol: ProtocolConfig { grpc: Some(grpc), ..plan.protocol.clone() }, ..plan })
    }

    /// Returns the time after which a call without a complete response has failed.
    pub fn timeout(&self) -> Duration {
        self.load.pace.timeout()
    }
}

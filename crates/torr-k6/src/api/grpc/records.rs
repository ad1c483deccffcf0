//! The samples of calls.

use super::client::Connected;
use crate::api::http::samples::SampleState;
use crate::metrics::{MetricId, TagSet, builtin};
use crate::options::SystemTag;
use crate::sockets::grpc::GrpcConnection;
use crate::user::Vu;
use std::time::Duration;

/// The samples of one call.
#[derive(Debug)]
pub(super) struct Records {
    /// The tags without the status.
    tags: TagSet,
}

impl Records {
    /// Returns the samples of a call of a method, with the tags that the script gives.
    pub fn of_method(vu: &Vu, connected: &Connected, path: &str, own: &[(String, String)]) -> Self {
        let (service, method) = path.trim_start_matches('/').split_once('/').unwrap_or((path, ""));
        let url = format!("{}{path}", connected.address);
        let mut recorder = vu.recorder.borrow_mut();
        let mut current = vu.tags.borrow_mut();
        let base = current.set(&mut recorder);
        let system = current.system();
        let has_name = current.tags().contains_key("name") || own.iter().any(|(name, _)| name == "name");
        let mut further: Vec<_> = own.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        for (tag, value) in [
            (SystemTag::Url, url.as_str()),
            (SystemTag::Service, service),
            (SystemTag::Method, method),
            (SystemTag::Name, path),
        ] {
            if system.has(tag) && !(has_name && tag == SystemTag::Name) {
                further.push((tag.name(), value));
            }
        }
        Self { tags: recorder.tag_set(&base, &further) }
    }

    /// Returns the samples of a call that is not the script's own, such as one for the server's health.
    pub fn plain(vu: &Vu) -> Self {
        let mut recorder = vu.recorder.borrow_mut();
        Self { tags: vu.tags.borrow_mut().set(&mut recorder) }
    }

    /// Records a sample of 1 of a metric.
    pub fn count(&self, vu: &Vu, metric: MetricId) {
        vu.recorder.borrow_mut().add(metric, 1.0, &self.tags);
    }

    /// Records the end of the call.
    pub fn end(&self, vu: &Vu, status: u32, took: Duration) {
        let mut recorder = vu.recorder.borrow_mut();
        let has_status = vu.tags.borrow().system().has(SystemTag::Status);
        let status = status.to_string();
        let tags = match has_status {
            true => recorder.tag_set(&self.tags, &[(SystemTag::Status.name(), &status)]),
            false => self.tags.clone(),
        };
        recorder.add_time(builtin::GRPC_REQ_DURATION, took, &tags);
    }
}

/// Counts the bytes of a connection among those of its user.
pub(super) fn count_transferred(vu: &Vu, connection: &GrpcConnection) {
    vu.extra::<SampleState>().add(connection.take_transferred());
}

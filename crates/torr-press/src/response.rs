//! Responses beyond their framing: what is checked, followed, decoded and kept of them.

mod authorized;
pub mod checks;
pub(crate) mod decode;
pub mod events;
pub(crate) mod failed;
pub(crate) mod follow;
pub(crate) mod grpc;
pub(crate) mod inspect;
pub(crate) mod keeper;
pub(crate) mod kept;
pub(crate) mod redirect;

//! Responses beyond their framing: what is checked, followed, decoded and kept of them.

pub mod checks;
pub(crate) mod decode;
pub(crate) mod failed;
pub(crate) mod follow;
pub(crate) mod inspect;
pub(crate) mod keeper;
pub(crate) mod kept;
pub(crate) mod redirect;

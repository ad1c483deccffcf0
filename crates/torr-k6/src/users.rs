//! Virtual users as those of the load engine: each has a place among the engine's users, with lanes for requests beside its own.

pub(crate) mod beginning;
pub(crate) mod exchange;
mod k6_users;
mod layout;
mod load;
pub(crate) mod parts;
mod rate_limit;
pub(crate) mod refusal;
mod slot;
mod stage;
mod thread;
pub(crate) mod virtual_user;

pub use k6_users::K6Users;
pub use layout::Layout;
pub use load::Load;
pub use rate_limit::RateLimit;

//! The server as processes: listeners, signals, shutdown, the supervisor and systemd.

pub(crate) mod adopted;
pub(crate) mod background;
pub(crate) mod in_async;
pub(crate) mod inherited;
pub(crate) mod listeners;
pub(crate) mod member;
pub(crate) mod notify_socket;
pub(crate) mod open_files;
pub(crate) mod open_listener;
pub(crate) mod pid_file;
pub(crate) mod shutdown;
pub(crate) mod signals;
pub(crate) mod supervisor;
pub(crate) mod systemd;

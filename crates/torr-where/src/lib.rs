//! The place in a service that limits it.

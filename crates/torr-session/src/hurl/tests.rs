//! What is read, what is refused and where.

mod read;
mod refused;
mod written;

//! A pooler between the service and its database: it has few connections to the database, and the service's queries wait for one.

use super::in_service::more_than;
use crate::evidence::Evidence;
use crate::thresholds::POOL_IN_USE;
use torr_gauge::verdict::{Advice, Change, Fact, Finding, Headline};
use torr_gauge::{Confidence, Factor};
use torr_signals::{PeerUse, Role};

/// Returns the pooler whose connections to the database are all in use, and the database behind it. `held` requests are in service.
pub fn in_use(evidence: &Evidence, held: f64) -> Option<(&PeerUse, &PeerUse)> {
    evidence.figures.databases().find_map(|pooler| {
        let databases = pooler.peers.iter().filter(|behind| behind.role == Role::Database);
        let database = databases.max_by(|a, b| a.connections.total_cmp(&b.connections))?;
        let few = database.connections < more_than(held);
        let all_wait = database.waiting.is_none_or(|waiting| waiting > POOL_IN_USE * database.connections);
        // How many queries wait in the pooler is not known: TCP does not show those that follow a response at once.
        (few && all_wait && pooler.connections > database.connections).then_some((pooler, database))
    })
}

/// Returns the finding on a pooler.
pub fn finding(evidence: &Evidence, (pooler, database): (&PeerUse, &PeerUse), confidence: Confidence) -> Finding {
    Finding::new(Factor::Database, confidence, Headline::PoolerInUse)
        .because(Fact::PoolerConnections {
            pooler: pooler.label(),
            database: database.label(),
            mean: database.connections,
            most: database.connections_max,
            in_flight: database.waiting,
        })
        .advice(Advice::LargerPooler { connections: database.connections })
        .advice(Advice::FasterQueries)
        .gain(evidence.bounds().gain((2.0, 2.0), Change::TwiceThePool))
}

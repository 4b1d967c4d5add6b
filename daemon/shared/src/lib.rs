//! The part of herma that several hosts share in a PostgreSQL database.
//!
//! * [`address`]: where the database is, how its server is authenticated, and how it is displayed.
//! * [`Database`]: the connections to it, with time limits.
//! * [`schema`]: the tables, created and migrated by versions; forward only.
//! * [`stores`]: the text of a store, its revision and its history; the one place that assigns revisions.
//! * [`messages`]: the messages of all hosts, and searching them.
//! * [`outputs`]: outputs of tools that any host kept; [`objects`]: their texts outside the database.
//! * [`watch`]: the changes of other hosts.
//!
//! This crate does not know the rules of a store: a caller requests revisions, and the database assigns or refuses
//! them.

pub mod address;
mod connection;
mod database;
mod error;
mod foreign;
pub mod messages;
pub mod objects;
pub mod outputs;
pub mod schema;
pub mod sessions;
mod store_statements;
pub mod stores;
pub mod transfer;
pub mod watch;

pub use address::Address;
pub use database::{Database, Space};
pub use error::SharedError;
pub use foreign::LARGEST_REVISION;

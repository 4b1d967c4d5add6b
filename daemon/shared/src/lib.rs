//! What several hosts share in a PostgreSQL database.
//!
//! * [`address`]: where the database is, how it is known to be the right one, and what is said of it.
//! * [`Database`]: the connections to it, with limits on how long anything takes.
//! * [`schema`]: the tables, made and brought up to date by versions; forward only.
//! * [`stores`]: the text of a store, its revision and its history; the one place where a revision is given.
//! * [`messages`]: what was said on any host, and finding it.
//! * [`outputs`]: outputs of tools that any host kept; [`objects`]: where their texts are, besides the database.
//! * [`watch`]: what other hosts did.
//!
//! Nothing here knows the rules of a store: revisions come in as they are wanted, and are given or not.

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

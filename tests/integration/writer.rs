//! A writer that knows its own entries in a store.

use herma_client::{Client, ClientError};
use herma_protocol::memory::{
    Action, AddParams, BatchParams, Operation, RemoveParams, ReplaceParams, Target, WriteResult,
};
use herma_tests::random::Random;

/// Maximum number of entries of one writer in a store.
const MOST: usize = 5;

/// The writes of one writer to a store, and the answers that it got.
#[derive(Debug)]
pub(crate) struct Writer {
    name: String,
    target: Target,
    random: Random,
    number: u64,
    /// Its entries after the last acknowledged write.
    own: Vec<String>,
    /// Its entries if the unanswered write is applied.
    pending: Option<Vec<String>>,
    /// Every answer since the last [`Self::take_told`]: a revision and its entries.
    told: Vec<(u64, Vec<String>)>,
    writes: u64,
}

impl Writer {
    pub(crate) fn new(name: &str, target: Target, seed: u64) -> Self {
        let random = Random::seeded(seed);
        let name = name.to_owned();
        Self { name, target, random, number: 0, own: vec![], pending: None, told: vec![], writes: 0 }
    }

    pub(crate) const fn target(&self) -> Target {
        self.target
    }

    /// Returns the number of acknowledged writes.
    pub(crate) const fn writes(&self) -> u64 {
        self.writes
    }

    /// Makes one random write. After an error it is unknown whether the write was applied.
    pub(crate) fn step(&mut self, client: &mut Client) -> Result<(), ClientError> {
        let mut after = self.own.clone();
        let at = usize::try_from(self.random.below(u64::try_from(self.own.len().max(1)).unwrap())).unwrap();
        let new = self.new_entry();
        let choice = if self.own.len() >= MOST { 1 + self.random.below(2) } else { self.random.below(4) };
        let result = match choice {
            0 => self.add(client, &mut after, new),
            _ if self.own.is_empty() => self.add(client, &mut after, new),
            1 => {
                let old_text = std::mem::replace(&mut after[at], new.clone());
                self.replace(client, &after, old_text, new)
            }
            2 => {
                let old_text = after.remove(at);
                self.remove(client, &after, old_text)
            }
            _ => {
                let removed = after.remove(at);
                after.push(new.clone());
                let newer = self.new_entry();
                after.push(newer.clone());
                let operations = vec![
                    operation(Action::Remove, None, Some(removed)),
                    operation(Action::Add, Some("to be replaced.".to_owned() + &self.name), None),
                    operation(Action::Replace, Some(new), Some("to be replaced.".to_owned() + &self.name)),
                    operation(Action::Add, Some(newer), None),
                ];
                self.batch(client, &after, operations)
            }
        }?;
        assert!(result.success, "{} {result:?}", self.name);
        self.own = self.pending.take().unwrap();
        let entries = result.entries.unwrap();
        assert_eq!(self.own_of(&entries), self.own, "{}", self.name);
        self.told.push((result.revision.unwrap(), entries));
        self.writes += 1;
        Ok(())
    }

    fn new_entry(&mut self) -> String {
        self.number += 1;
        format!("{} says {}.", self.name, self.number)
    }

    fn add(
        &mut self,
        client: &mut Client,
        after: &mut Vec<String>,
        content: String,
    ) -> Result<WriteResult, ClientError> {
        after.push(content.clone());
        self.pending = Some(after.clone());
        let target = self.target;
        client.memory_add(AddParams { target, content, session: None, agent: None, expected_revision: None })
    }

    fn replace(
        &mut self,
        client: &mut Client,
        after: &[String],
        old_text: String,
        content: String,
    ) -> Result<WriteResult, ClientError> {
        self.pending = Some(after.to_vec());
        client.memory_replace(ReplaceParams {
            target: self.target,
            old_text,
            content,
            session: None,
            agent: None,
            expected_revision: None,
            allow_drift: None,
        })
    }

    fn remove(&mut self, client: &mut Client, after: &[String], old_text: String) -> Result<WriteResult, ClientError> {
        self.pending = Some(after.to_vec());
        client.memory_remove(RemoveParams {
            target: self.target,
            old_text,
            session: None,
            agent: None,
            expected_revision: None,
            allow_drift: None,
        })
    }

    fn batch(
        &mut self,
        client: &mut Client,
        after: &[String],
        operations: Vec<Operation>,
    ) -> Result<WriteResult, ClientError> {
        self.pending = Some(after.to_vec());
        client.memory_batch(BatchParams {
            target: self.target,
            operations,
            allow_empty: Some(true),
            session: None,
            agent: None,
            expected_revision: None,
            allow_drift: None,
        })
    }

    fn own_of(&self, entries: &[String]) -> Vec<String> {
        let start = format!("{} says", self.name);
        entries.iter().filter(|entry| entry.starts_with(&start)).cloned().collect()
    }

    /// Checks that the acknowledged entries are among these, once and in order. An unanswered write may be applied.
    /// Once it is, it stays.
    pub(crate) fn check(&mut self, entries: &[String]) {
        let there = self.own_of(entries);
        if self.pending.as_ref() == Some(&there) {
            self.own = self.pending.take().unwrap();
        }
        assert_eq!(there, self.own, "{} in {entries:?}, or {:?}", self.name, self.pending);
    }

    /// Like [`Self::check`], but a write that is not applied by now never will be.
    pub(crate) fn check_finally(&mut self, entries: &[String]) {
        self.check(entries);
        self.pending = None;
    }

    /// Returns the answers since the last call.
    pub(crate) fn take_told(&mut self) -> Vec<(u64, Vec<String>)> {
        std::mem::take(&mut self.told)
    }
}

const fn operation(action: Action, content: Option<String>, old_text: Option<String>) -> Operation {
    Operation { action, content, old_text }
}

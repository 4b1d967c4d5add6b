//! What a transcript says about its session: title, model, window, folder and branch. No I/O.

use std::collections::BTreeMap;

use herma_base::kept::hash;
use herma_client::protocol::limits;
use herma_client::protocol::session::UpdateParams;
use herma_transcripts::Session;
use serde::{Deserialize, Serialize};

/// The facts about a session, each as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Facts {
    title: Option<String>,
    model: Option<String>,
    window: Option<u64>,
    cwd: Option<String>,
    branch: Option<String>,
}

/// The facts that the daemon has: a hash of each by its name. A title may contain a secret, so it is not saved itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SentFacts(BTreeMap<String, String>);

impl Facts {
    /// Returns what a part of a transcript says.
    pub(super) fn of(session: &Session) -> Self {
        let Session { title, model, window, cwd, branch, .. } = session;
        let name = |text: &Option<String>| text.as_deref().and_then(|text| shown(text, limits::NAME));
        Self {
            title: name(title),
            model: name(model),
            window: *window,
            cwd: cwd.as_deref().and_then(|cwd| shown(cwd, limits::PATH)),
            branch: name(branch),
        }
    }

    /// Returns these facts, with the earlier ones where they are unknown. A session keeps its first folder.
    pub(super) fn over(self, before: Self) -> Self {
        Self {
            title: self.title.or(before.title),
            model: self.model.or(before.model),
            window: self.window.or(before.window),
            cwd: before.cwd.or(self.cwd),
            branch: self.branch.or(before.branch),
        }
    }

    /// Returns the request that stores these facts. The daemon already has those in `sent`, which are left out. Adds the
    /// others to `sent`. Returns `None` if there are no others.
    pub(super) fn news(self, session: String, sent: &mut SentFacts) -> Option<UpdateParams> {
        let Self { title, model, window, cwd, branch } = self;
        let params = UpdateParams {
            session,
            title: title.filter(|title| sent.is_new("title", title)),
            model: model.filter(|model| sent.is_new("model", model)),
            context_length: window.filter(|window| sent.is_new("window", &window.to_string())),
            cwd: cwd.filter(|cwd| !sent.0.contains_key("cwd") && sent.is_new("cwd", cwd)),
            branch: branch.filter(|branch| sent.is_new("branch", branch)),
        };
        let UpdateParams { session: _, title, model, context_length, cwd, branch } = &params;
        let has_news = [title, model, cwd, branch].into_iter().any(Option::is_some) || context_length.is_some();
        has_news.then_some(params)
    }
}

impl SentFacts {
    /// Notes a fact, and returns whether it is new.
    fn is_new(&mut self, name: &str, value: &str) -> bool {
        let value = hash(value.as_bytes());
        self.0.insert(name.to_owned(), value.clone()) != Some(value)
    }
}

/// Returns a text without control characters and with at most `longest` chars; `None` if nothing is left.
pub(super) fn shown(text: &str, longest: usize) -> Option<String> {
    let text: String = text.chars().filter(|char| !char.is_control()).take(longest).collect();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_facts_count_but_for_the_folder() {
        let session = |title: &str, cwd: &str| {
            let mut session = Session::new("s");
            session.title = Some(title.into());
            session.cwd = Some(cwd.into());
            session.branch = Some(String::new());
            session
        };
        let first = Facts::of(&session("one\n", "/a"));
        let second = Facts::of(&session("two", "/b")).over(first.clone());
        assert_eq!(
            (first.title.as_deref(), first.cwd.as_deref(), first.branch.as_deref()),
            (Some("one"), Some("/a"), None)
        );
        assert_eq!((second.title.as_deref(), second.cwd.as_deref()), (Some("two"), Some("/a")));
        let mut sent = SentFacts::default();
        let news = first.news("s".into(), &mut sent).unwrap();
        assert_eq!((news.title.as_deref(), news.cwd.as_deref()), (Some("one"), Some("/a")));
        let news = second.clone().news("s".into(), &mut sent).unwrap();
        assert_eq!((news.title.as_deref(), news.cwd), (Some("two"), None));
        assert_eq!(second.news("s".into(), &mut sent), None);
    }
}

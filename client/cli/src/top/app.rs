//! The state of the view, and the effect of keys. It uses no terminal and no daemon.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use herma_client::protocol::daemon::StatusResult;
use herma_client::protocol::memory::Target;
use herma_client::protocol::session::chain::Row;
use ratatui::crossterm::event::{KeyCode, KeyModifiers};

/// The most events that are kept.
const EVENTS: usize = 200;

/// The lines that a page key moves by.
const PAGE: usize = 10;

/// The state of the daemon at one moment.
pub(super) struct Overview {
    pub server: String,
    pub home: String,
    pub status: StatusResult,
    /// The sessions, the most recently active first, with the share of their windows that is full.
    pub sessions: Vec<(Row, Option<f64>)>,
}

/// A view of one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum View {
    Session(String),
    Store { profile: String, target: Target },
    Journal { profile: String, target: Target },
}

/// The table in which the arrow keys move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Focus {
    Sessions,
    Stores,
}

/// The action that follows a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    Nothing,
    LooksAgain,
    Ends,
}

pub(super) struct App {
    pub colours: bool,
    pub focus: Focus,
    /// The selected row of each table.
    pub session: usize,
    pub store: usize,
    pub overview: Option<Overview>,
    /// The reason why the last update failed.
    pub lost: Option<String>,
    /// The requests per second since the update before, in total and by method.
    pub rates: BTreeMap<String, f64>,
    pub rate: f64,
    pub events: VecDeque<String>,
    pub help: bool,
    /// The opened views, outermost first, and the lines of the innermost.
    pub path: Vec<View>,
    pub lines: Vec<String>,
    pub scrolled: usize,
    before: Option<(Instant, u64, BTreeMap<String, u64>)>,
}

impl App {
    pub(super) fn new(colours: bool) -> Self {
        Self {
            colours,
            focus: Focus::Sessions,
            session: 0,
            store: 0,
            overview: None,
            lost: None,
            rates: BTreeMap::new(),
            rate: 0.0,
            events: VecDeque::new(),
            help: false,
            path: Vec::new(),
            lines: Vec::new(),
            scrolled: 0,
            before: None,
        }
    }

    /// Sets the state of the daemon, or the reason why it is missing.
    pub(super) fn looked(&mut self, look: Result<Overview, String>) {
        match look {
            Ok(overview) => {
                self.count(&overview.status);
                self.session = self.session.min(overview.sessions.len().saturating_sub(1));
                self.store = self.store.min(overview.status.stores.len().saturating_sub(1));
                self.overview = Some(overview);
                self.lost = None;
            }
            Err(words) => {
                self.lost = Some(words);
                self.before = None;
            }
        }
    }

    /// Sets the lines of the innermost view.
    pub(super) fn detail(&mut self, lines: Result<Vec<String>, String>) {
        self.lines = lines.unwrap_or_else(|words| vec![words]);
        self.scrolled = self.scrolled.min(self.lines.len().saturating_sub(1));
    }

    /// Adds an event.
    pub(super) fn add_event(&mut self, event: String) {
        self.events.push_front(event);
        self.events.truncate(EVENTS);
    }

    /// Returns the innermost view, if there is one.
    pub(super) fn inside(&self) -> Option<&View> {
        self.path.last()
    }

    fn count(&mut self, status: &StatusResult) {
        let now = Instant::now();
        let counts: BTreeMap<String, u64> =
            status.requests.by_method.iter().map(|(method, counts)| (method.clone(), counts.count)).collect();
        if let Some((then, total, by_method)) = &self.before {
            let seconds = now.duration_since(*then).as_secs_f64();
            self.rate = per_second(status.requests.total, *total, seconds);
            let before = |method: &str| by_method.get(method).copied().unwrap_or_default();
            self.rates = counts
                .iter()
                .map(|(method, count)| (method.clone(), per_second(*count, before(method), seconds)))
                .collect();
        }
        self.before = Some((now, status.requests.total, counts));
    }

    pub(super) fn key(&mut self, code: KeyCode, modifiers: KeyModifiers) -> After {
        if code == KeyCode::Char('c') && modifiers.contains(KeyModifiers::CONTROL) {
            return After::Ends;
        }
        if self.help {
            self.help = false;
            return After::Nothing;
        }
        match code {
            KeyCode::Char('q') => return After::Ends,
            KeyCode::Char('?') => self.help = true,
            KeyCode::Esc | KeyCode::Backspace => {
                self.path.pop();
                return self.moved_in();
            }
            KeyCode::Up | KeyCode::Char('k') => self.step(-1),
            KeyCode::Down | KeyCode::Char('j') => self.step(1),
            KeyCode::PageUp => self.step(-(PAGE.cast_signed())),
            KeyCode::PageDown => self.step(PAGE.cast_signed()),
            KeyCode::Tab if self.path.is_empty() => {
                self.focus = if self.focus == Focus::Sessions { Focus::Stores } else { Focus::Sessions };
            }
            KeyCode::Enter if self.path.is_empty() => {
                self.path.extend(self.chosen());
                return self.moved_in();
            }
            KeyCode::Char('l') => {
                let place = self.inside().cloned().or_else(|| self.chosen());
                if let Some(View::Store { profile, target }) = place {
                    self.path.push(View::Journal { profile, target });
                    return self.moved_in();
                }
            }
            _ => {}
        }
        After::Nothing
    }

    fn moved_in(&mut self) -> After {
        self.lines.clear();
        self.scrolled = 0;
        After::LooksAgain
    }

    /// Returns the view of the selected row.
    fn chosen(&self) -> Option<View> {
        let overview = self.overview.as_ref()?;
        match self.focus {
            Focus::Sessions => overview.sessions.get(self.session).map(|(row, _)| View::Session(row.session.clone())),
            Focus::Stores => overview
                .status
                .stores
                .get(self.store)
                .map(|store| View::Store { profile: store.profile.clone(), target: store.target }),
        }
    }

    fn step(&mut self, by: isize) {
        let overview = self.overview.as_ref();
        let (at, rows) = match (self.path.is_empty(), self.focus) {
            (false, _) => (&mut self.scrolled, self.lines.len()),
            (true, Focus::Sessions) => (&mut self.session, overview.map_or(0, |overview| overview.sessions.len())),
            (true, Focus::Stores) => (&mut self.store, overview.map_or(0, |overview| overview.status.stores.len())),
        };
        *at = at.saturating_add_signed(by).min(rows.saturating_sub(1));
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rate for people")]
fn per_second(now: u64, before: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { now.saturating_sub(before) as f64 / seconds } else { 0.0 }
}

#[cfg(test)]
pub(super) mod tests {
    use herma_client::protocol::daemon::{
        ArchiveStatus, JournalState, MethodCounts, OutputCounts, RequestCounts, SessionCounts, StoreState, StoreStatus,
        SummarizerStatus,
    };

    use super::*;

    pub(in super::super) fn overview(sessions: usize) -> Overview {
        let store = |target, chars| StoreStatus {
            profile: "default".into(),
            target,
            entries: 3,
            chars,
            limit: 2200,
            revision: 7,
            state: StoreState::Ok,
            journal: JournalState::Ok,
        };
        let counts = MethodCounts { count: 12, p50_us: 40.0, p99_us: 2_500.0 };
        Overview {
            server: "herma 0.1.0".into(),
            home: "/home/a/.hermes".into(),
            status: StatusResult {
                uptime_s: 4000.0,
                rss_bytes: 8 << 20,
                connections: 3,
                requests: RequestCounts { total: 12, errors: 1, by_method: [("memory.add".to_owned(), counts)].into() },
                sessions: SessionCounts { open: 1, total: 2 },
                stores: vec![store(Target::Memory, 1100), store(Target::User, 0)],
                outputs: OutputCounts { files: 4, bytes: 1 << 30, quota: 2 << 30 },
                archive: ArchiveStatus { state: "ok".into(), bytes: 4096 },
                summarizer: SummarizerStatus { kind: "extractive".into(), state: "ok".into() },
            },
            sessions: (0..sessions)
                .map(|at| {
                    let row = Row {
                        session: format!("会議-{at}"),
                        title: Some(format!("Title {at} 会議")),
                        cwd: Some("/home/a/project".into()),
                        agent: Some("coder".into()),
                        generation: 2,
                        ..Row::default()
                    };
                    (row, Some(0.5))
                })
                .collect(),
        }
    }

    fn press(app: &mut App, code: KeyCode) -> After {
        app.key(code, KeyModifiers::NONE)
    }

    #[test]
    fn keys_choose_look_into_and_go_back() {
        let mut app = App::new(true);
        app.looked(Ok(overview(3)));
        for _ in 0..5 {
            press(&mut app, KeyCode::Down);
        }
        assert_eq!(app.session, 2);
        assert_eq!(press(&mut app, KeyCode::Enter), After::LooksAgain);
        assert_eq!(app.inside(), Some(&View::Session("会議-2".into())));
        press(&mut app, KeyCode::Esc);
        press(&mut app, KeyCode::Tab);
        press(&mut app, KeyCode::Char('j'));
        press(&mut app, KeyCode::Enter);
        press(&mut app, KeyCode::Char('l'));
        assert_eq!(app.inside(), Some(&View::Journal { profile: "default".into(), target: Target::User }));
        press(&mut app, KeyCode::Esc);
        assert_eq!(app.inside(), Some(&View::Store { profile: "default".into(), target: Target::User }));
        assert_eq!(press(&mut app, KeyCode::Char('q')), After::Ends);
        assert_eq!(app.key(KeyCode::Char('c'), KeyModifiers::CONTROL), After::Ends);
    }

    #[test]
    fn what_is_chosen_stays_within_what_there_is() {
        let mut app = App::new(true);
        for code in [KeyCode::Down, KeyCode::Enter, KeyCode::Char('l'), KeyCode::Esc, KeyCode::PageDown] {
            press(&mut app, code);
        }
        assert_eq!(app.inside(), None);
        app.looked(Ok(overview(3)));
        press(&mut app, KeyCode::PageDown);
        app.looked(Ok(overview(1)));
        assert_eq!(app.session, 0);
        app.looked(Err("gone".into()));
        assert!(app.overview.is_some() && app.lost.is_some());
    }
}

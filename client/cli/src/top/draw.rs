//! Draws the view. It is made for at least 80 by 24 cells, and still usable with fewer.

use herma_base::out;
use herma_client::protocol::daemon::{StatusResult, StoreState};
use herma_client::protocol::memory::Target;
use herma_client::protocol::visible::visible_line;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Cell, Paragraph, Row, Table, TableState};

use super::app::{App, Focus, Overview, View};
use crate::names;

/// Cells of a bar.
const BAR: usize = 10;

/// The rows and the columns from which there is room for more than the most important.
const TALL: u16 = 32;
const WIDE: u16 = 150;

/// The shares from which a bar is highlighted, and from which it shows an alarm.
const HIGH: f64 = 0.75;
const FULL: f64 = 0.9;

const HELP: &str = "Tab       sessions or stores
↑ ↓ j k   choose, or scroll
Enter     look into what is chosen
l         the journal of a store
Esc       back
q         end

any key goes on";

pub(super) fn draw(frame: &mut Frame<'_>, app: &App) {
    let area = frame.area();
    let [head, body, foot] =
        Layout::vertical([Constraint::Length(2), Constraint::Min(0), Constraint::Length(1)]).areas(area);
    frame.render_widget(header(app), head);
    match (&app.overview, app.inside(), app.help) {
        (_, _, true) => frame.render_widget(Paragraph::new(HELP).block(titled("keys")), body),
        (_, Some(place), _) => detail(frame, app, place, body),
        (Some(overview), None, _) => tables(frame, app, overview, body),
        (None, None, _) => {}
    }
    frame.render_widget(footer(app), foot);
}

fn titled(title: &str) -> Block<'_> {
    Block::new().borders(Borders::TOP).title(format!(" {title} "))
}

fn header(app: &App) -> Paragraph<'_> {
    let Some(Overview { server, home, status, .. }) = &app.overview else { return Paragraph::new("herma") };
    let first = format!("{server}  {home}  up {}  {}", uptime(status.uptime_s), out::size(status.rss_bytes));
    let second = format!(
        "{}  {:.0} requests/s  {} in all, {} failed  sessions {} of {} open",
        out::count_of(status.connections, "connection"),
        app.rate,
        out::thousands(status.requests.total),
        out::thousands(status.requests.errors),
        status.sessions.open,
        status.sessions.total
    );
    Paragraph::new(vec![Line::styled(first, Style::new().add_modifier(Modifier::BOLD)), Line::raw(second)])
}

fn footer(app: &App) -> Line<'_> {
    match &app.lost {
        Some(words) => Line::styled(format!("no answer: {}", shown(words)), app.style(Color::Red)),
        None => Line::raw("Tab Enter l Esc ? q"),
    }
}

fn tables(frame: &mut Frame<'_>, app: &App, overview: &Overview, area: Rect) {
    let is_tall = area.height >= TALL;
    let stores = overview.status.stores.len().min(if is_tall { 6 } else { 2 });
    let (requests, events) = if is_tall { (7, 8) } else { (2, 2) };
    let [top, middle, requests, events] = Layout::vertical([
        Constraint::Min(4),
        Constraint::Length(u16::try_from(stores).unwrap_or(u16::MAX) + 3),
        Constraint::Length(requests),
        Constraint::Length(events),
    ])
    .areas(area);
    session_table(frame, app, overview, top);
    store_table(frame, app, &overview.status, middle);
    method_table(frame, app, &overview.status, requests);
    let lines: Vec<Line<'_>> = app.events.iter().map(|event| Line::raw(shown(event))).collect();
    frame.render_widget(Paragraph::new(lines).block(titled("events")), events);
}

fn store_table(frame: &mut Frame<'_>, app: &App, status: &StatusResult, area: Rect) {
    let [list, rest] = Layout::vertical([Constraint::Min(2), Constraint::Length(2)]).areas(area);
    let rows = status.stores.iter().map(|store| {
        let name = format!("{}/{}", shown(&store.profile), target(store.target));
        let state = match store.state {
            StoreState::Ok => "",
            StoreState::OverLimit => "OVER LIMIT",
            StoreState::Unreadable => "UNREADABLE",
            StoreState::Drifted => "DRIFTED",
        };
        let chars = format!("{}/{} chars", out::thousands(store.chars), out::thousands(store.limit));
        Row::new([
            Cell::new(name),
            Cell::new(app.bar(out::share(store.chars, store.limit))),
            Cell::new(chars),
            Cell::new(format!("{:>2} entries", store.entries)),
            Cell::new(format!("revision {}", store.revision)),
            Cell::new(Span::styled(state, app.style(Color::Red))),
        ])
    });
    // Next to each other also on a wide terminal.
    let name = if area.width >= WIDE { 40 } else { 16 };
    let widths = [name, 10, 17, 10, 12, 10].map(Constraint::Length);
    let table = Table::new(rows, widths).block(titled("stores")).row_highlight_style(app.marked(Focus::Stores));
    frame.render_stateful_widget(table, list, &mut TableState::new().with_selected(Some(app.store)));
    let share = out::share(status.outputs.bytes, status.outputs.quota);
    let outputs = format!(
        "{}, {} of {}",
        out::count_of(status.outputs.files, "file"),
        out::size(status.outputs.bytes),
        out::size(status.outputs.quota)
    );
    let archive = format!(
        "archive {}, {}   summarizer {}, {}",
        status.archive.state,
        out::size(status.archive.bytes),
        status.summarizer.kind,
        status.summarizer.state
    );
    frame.render_widget(
        Paragraph::new(vec![
            Line::from(vec![Span::raw("outputs "), app.bar(share), Span::raw(format!(" {outputs}"))]),
            Line::raw(shown(&archive)),
        ]),
        rest,
    );
}

/// Draws the sessions: title, agent, folder, fill and age, and on a wide terminal all else that is known in a word.
fn session_table(frame: &mut Frame<'_>, app: &App, overview: &Overview, area: Rect) {
    let is_wide = area.width >= WIDE;
    let rows = overview.sessions.iter().map(|(row, pressure)| {
        let percent = pressure.map_or_else(|| "-".to_owned(), |share| format!("{:3.0} %", share * 100.0));
        let full = match pressure {
            Some(share) if is_wide => Line::from(vec![app.bar(*share), Span::raw(format!(" {percent}"))]),
            _ => Line::raw(percent),
        };
        let title = Some(names::session::title(row)).filter(|title| !title.is_empty()).unwrap_or(&row.session);
        let mut cells = vec![
            Cell::new(shown(title)),
            Cell::new(shown(row.agent.as_deref().unwrap_or("-"))),
            Cell::new(shown(names::session::folder_name(row.cwd.as_deref()).unwrap_or("-"))),
            Cell::new(full),
            Cell::new(out::ago(row.last_active)),
        ];
        if is_wide {
            cells.extend([
                Cell::new(shown(&names::session::short(&row.session))),
                Cell::new(shown(row.model.as_deref().unwrap_or("-"))),
                Cell::new(format!("{:>8}", out::thousands(row.messages))),
                Cell::new(if row.ended_at.is_some() { "ended" } else { "open" }),
            ]);
        }
        Row::new(cells)
    });
    let mut heads = vec!["session", "agent", "folder", "full", "active"];
    let mut widths = [Constraint::Fill(1), Constraint::Length(11), Constraint::Length(12)].to_vec();
    widths.extend([Constraint::Length(if is_wide { 17 } else { 5 }), Constraint::Length(10)]);
    if is_wide {
        heads.extend(["id", "model", "messages", "state"]);
        widths.extend([24, 20, 8, 5].map(Constraint::Length));
    }
    let table = Table::new(rows, widths)
        .header(Row::new(heads).style(Style::new().add_modifier(Modifier::DIM)))
        .block(titled("sessions"))
        .row_highlight_style(app.marked(Focus::Sessions));
    frame.render_stateful_widget(table, area, &mut TableState::new().with_selected(Some(app.session)));
}

fn method_table(frame: &mut Frame<'_>, app: &App, status: &StatusResult, area: Rect) {
    let rate = |method: &str| app.rates.get(method).copied().unwrap_or_default();
    let mut methods: Vec<_> = status.requests.by_method.iter().collect();
    methods.sort_by(|one, other| rate(other.0).total_cmp(&rate(one.0)).then(other.1.count.cmp(&one.1.count)));
    let rows = methods.into_iter().map(|(method, counts)| {
        Row::new([
            Cell::new(method.as_str()),
            Cell::new(format!("{:>8.1}/s", rate(method))),
            Cell::new(format!("{:>12}", out::thousands(counts.count))),
            Cell::new(format!("{:>10}", out::microseconds(counts.p50_us))),
            Cell::new(format!("{:>10}", out::microseconds(counts.p99_us))),
        ])
    });
    let widths = [24, 10, 12, 10, 10].map(Constraint::Length);
    let mut table = Table::new(rows, widths).block(titled("requests"));
    // Without it the one line that fits has the busiest method.
    if area.height > 3 {
        let head = Row::new(["method", "      rate", "       count", "       p50", "       p99"]);
        table = table.header(head.style(Style::new().add_modifier(Modifier::DIM)));
    }
    frame.render_widget(table, area);
}

fn detail(frame: &mut Frame<'_>, app: &App, place: &View, area: Rect) {
    let title = match place {
        View::Session(id) => format!("session {}", shown(id)),
        View::Store { profile, target: of } => format!("store {}/{}", shown(profile), target(*of)),
        View::Journal { profile, target: of } => format!("journal of {}/{}", shown(profile), target(*of)),
    };
    let lines: Vec<Line<'_>> = app.lines.iter().skip(app.scrolled).map(|line| Line::raw(shown(line))).collect();
    frame.render_widget(Paragraph::new(lines).block(titled(&title)), area);
}

impl App {
    fn style(&self, colour: Color) -> Style {
        if self.colours { Style::new().fg(colour) } else { Style::new() }
    }

    fn bar(&self, share: f64) -> Span<'static> {
        let colour = if share >= FULL {
            Color::Red
        } else if share >= HIGH {
            Color::Yellow
        } else {
            Color::Green
        };
        Span::styled(out::bar(share, BAR), self.style(colour))
    }

    fn marked(&self, table: Focus) -> Style {
        if self.focus == table { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() }
    }
}

const fn target(target: Target) -> &'static str {
    match target {
        Target::Memory => "memory",
        Target::User => "user",
    }
}

/// Returns foreign text as one line, with control characters made visible.
fn shown(text: &str) -> String {
    visible_line(text).into_owned()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds of a process's life")]
fn uptime(seconds: f64) -> String {
    let minutes = (seconds.max(0.0) / 60.0) as u64;
    match (minutes / 1440, minutes / 60 % 24, minutes % 60) {
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::super::app::tests::overview;
    use super::*;

    fn picture(app: &App, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(frame, app)).unwrap();
        terminal.backend().to_string()
    }

    #[test]
    fn everything_is_there_at_80_by_24() {
        let mut app = App::new(false);
        app.looked(Ok(overview(3)));
        app.add_event("12:00  default/user  revision 7, written".into());
        let picture = picture(&app, 80, 24);
        for part in [
            "herma 0.1.0",
            "up 1 h 6 min",
            "█████░░░░░ 1,100/2,200 chars",
            "outputs █████░░░░░ 4 files",
            "archive ok",
            "coder",
            "50 %",
            "memory.add",
            "2.5 ms",
            "revision 7, written",
            "Tab Enter",
        ] {
            assert!(picture.contains(part), "{part} in\n{picture}");
        }
    }

    #[test]
    fn ten_sessions_fit_80_by_24_and_more_is_known_at_200_by_50() {
        let mut app = App::new(false);
        app.looked(Ok(overview(60)));
        let small = picture(&app, 80, 24);
        assert!((0..10).all(|at| small.contains(&format!("Title {at} "))), "{small}");
        for part in ["full", "active", "project", "coder", "requests", "events", "stores"] {
            assert!(small.contains(part), "{part} in\n{small}");
        }
        let large = picture(&app, 200, 50);
        assert!((0..20).all(|at| large.contains(&format!("Title {at} "))), "{large}");
        for part in ["model", "state", "█████░░░░░  50 %"] {
            assert!(large.contains(part), "{part} in\n{large}");
        }
    }

    #[test]
    fn no_size_and_no_state_is_too_odd_to_draw() {
        let mut app = App::new(true);
        for (width, height) in [(1, 1), (10, 3), (39, 11), (80, 24), (300, 90)] {
            let _empty = picture(&app, width, height);
        }
        app.looked(Ok(overview(500)));
        app.looked(Err("the daemon went away".into()));
        app.path.push(View::Session("s".into()));
        app.detail(Ok(vec!["a line".into(); 300]));
        app.scrolled = 299;
        for (width, height) in [(1, 1), (10, 3), (80, 24)] {
            let _detail = picture(&app, width, height);
        }
        assert!(picture(&app, 80, 24).contains("no answer: the daemon went away"));
    }

    #[test]
    fn times_are_for_people() {
        assert_eq!([0.0, 59.0, 3_700.0, 90_000.0].map(uptime), ["0 min", "0 min", "1 h 1 min", "1 d 1 h"]);
    }
}

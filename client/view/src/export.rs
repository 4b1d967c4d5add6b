//! Writes what can be shown without a server into one file: no script, no links to other pages, nothing from elsewhere.

use std::path::Path;

use herma_base::{Failure, out, user_file};
use maud::{Markup, PreEscaped, html};

use crate::daemon::{Daemon, ViewError};
use crate::page::{self, Frame, Page, Section};
use crate::request::Params;
use crate::{files, history, memory, now, outputs, savings, sessions};

/// The style, which is in the file itself.
const STYLE: &str = include_str!("style.css");

/// The days of the savings.
const DAYS: u64 = 90;

pub(crate) fn write(daemon: &Daemon, path: &Path) -> Result<(), Failure> {
    let report = report(daemon).map_err(|error| Failure::File(error.words))?;
    // Memory and titles are in it.
    user_file::Draft::private(path)?.write(report.into_string().as_bytes())?.place(true)?;
    Ok(())
}

fn report(daemon: &Daemon) -> Result<Markup, ViewError> {
    let (none, shows) = (Params::default(), Frame::default());
    let of = |target: &str| Params::parse(format!("target={target}").as_bytes());
    let saved = savings::load(daemon, DAYS)?;
    let views: Vec<Page> = vec![
        now::report(daemon)?,
        memory::page(daemon, &none, &shows)?,
        history::page(daemon, &of("user"), &shows)?,
        history::page(daemon, &of("memory"), &shows)?,
        sessions::page(daemon, &none)?,
        Page::new(Section::Savings, "Savings", savings::body(&saved)),
        outputs::page(daemon, &none)?,
        files::page(daemon)?,
    ];
    let head = html! {
        meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
        style { (PreEscaped(STYLE)) }
    };
    let body = html! {
        main.report {
            h1 { "What herma keeps" }
            p.quiet { (daemon.settings().place.home.display()) ", " (out::now()) }
            @for view in &views {
                section.view { h2 { (view.title) } (without_links(&view.body)) }
            }
        }
    };
    Ok(page::html(&format!("herma, {}", out::now()), &head, &body))
}

/// Takes the addresses out of links and leaves out forms and navigation, because there is no server behind them.
fn without_links(body: &Markup) -> Markup {
    let mut rest = body.0.as_str();
    let mut plain = String::with_capacity(rest.len());
    while let Some(at) = rest.find(['<']) {
        let (text, tag) = rest.split_at(at);
        plain.push_str(text);
        let end = tag.find('>').map_or(tag.len(), |end| end + 1);
        let (tag, after) = tag.split_at(end);
        rest = after;
        let left_out = [("<form", "</form>"), ("<nav", "</nav>")].into_iter().find(|(begin, _)| tag.starts_with(begin));
        if let Some((_, end)) = left_out {
            rest = rest.split_once(end).map_or("", |(_, after)| after);
        } else if tag.starts_with("<a ") {
            plain.push_str("<a>");
        } else {
            plain.push_str(tag);
        }
    }
    plain.push_str(rest);
    PreEscaped(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_leads_nowhere() {
        let body = html! { p { a href="/x?<>" { "a<b" } form { input; } "c" } a.left href="/y" { "d" } };
        assert_eq!(without_links(&body).into_string(), "<p><a>a&lt;b</a>c</p><a>d</a>");
    }
}

//! The frame of every view.

use maud::{DOCTYPE, Markup, html};

use crate::daemon::ViewError;

/// The name of the field that proves that a form is of this server.
pub(crate) const FORM: &str = "form";

/// The views in the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Now,
    Memory,
    Sessions,
    Search,
    Savings,
    Outputs,
    Files,
    Health,
}

const SECTIONS: [(Section, &str, &str); 8] = [
    (Section::Now, "/", "Now"),
    (Section::Memory, "/memory", "Memory"),
    (Section::Sessions, "/sessions", "Sessions"),
    (Section::Search, "/search", "Search"),
    (Section::Savings, "/savings", "Savings"),
    (Section::Outputs, "/outputs", "Outputs"),
    (Section::Files, "/files", "Files"),
    (Section::Health, "/health", "Health"),
];

/// A view that was loaded.
#[derive(Debug)]
pub(crate) struct Page {
    /// The title, which is also the heading.
    pub(crate) title: String,
    /// The place in the navigation.
    pub(crate) section: Section,
    /// The content.
    pub(crate) body: Markup,
}

impl Page {
    /// Creates a page.
    pub(crate) fn new(section: Section, title: impl Into<String>, body: Markup) -> Self {
        Self { title: title.into(), section, body }
    }
}

/// What forms need.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frame {
    /// The secret of this run's forms; `None` if nothing can be changed.
    pub(crate) form: Option<String>,
}

impl Frame {
    /// Returns a form with one button, or nothing if nothing can be changed.
    pub(crate) fn button(&self, action: &str, fields: &[(&str, &str)], words: &str, label: &str) -> Markup {
        html! {
            @if let Some(secret) = &self.form {
                form.one method="post" action=(action) {
                    input type="hidden" name=(FORM) value=(secret);
                    @for (name, value) in fields { input type="hidden" name=(name) value=(value); }
                    button type="submit" aria-label=(label) { (words) }
                }
            }
        }
    }
}

/// Returns a whole page.
pub(crate) fn whole(page: &Page, frame: &Frame) -> Markup {
    document(
        &page.title,
        &html! {
            header {
                a.skip href="#content" { "Skip to the content" }
                nav aria-label="Views" {
                    strong { "herma" }
                    ul {
                        @for (section, address, name) in SECTIONS {
                            li { a href=(address) aria-current=[(section == page.section).then_some("page")] { (name) } }
                        }
                    }
                    @if frame.form.is_none() { span.quiet { "only shows" } }
                }
            }
            main #content {
                h1 { (page.title) }
                (page.body)
            }
        },
    )
}

/// Returns the page that leads the browser that has just got its cookie on.
pub(crate) fn welcome() -> Markup {
    leading_to("/")
}

/// Returns a page that leads to an address.
pub(crate) fn leading_to(address: &str) -> Markup {
    let head = html! { meta http-equiv="refresh" content=(format!("0;url={address}")); };
    html("herma", &head, &html! { main { p { a href=(address) { "Go on" } } } })
}

/// Returns the page that says why there is none. One that was only asked for can be asked for again.
pub(crate) fn failed(error: &ViewError, frame: &Frame, can_repeat: bool) -> Markup {
    let body = html! {
        p role="alert" { (error.words) }
        @if can_repeat && error.status.as_u16() == 503 {
            p { "The page works again once the daemon does. " a href="" { "Try again" } }
        }
    };
    whole(&Page::new(Section::Now, "That did not work", body), frame)
}

/// Returns the page for somebody who may not see more.
pub(crate) fn refused(error: &ViewError) -> Markup {
    document("Not for this browser", &html! { main { h1 { "Not for this browser" } p { (error.words) } } })
}

fn document(title: &str, body: &Markup) -> Markup {
    let files = html! {
        link rel="icon" href="/icon.svg" type="image/svg+xml";
        link rel="stylesheet" href="/style.css";
        script src="/page.js" defer {}
    };
    html(&format!("{title} · herma"), &files, body)
}

/// Returns a whole document. `head` is what belongs into its head next to the title.
pub(crate) fn html(title: &str, head: &Markup, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                (head)
            }
            body { (body) }
        }
    }
}

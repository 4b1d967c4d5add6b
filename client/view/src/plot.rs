//! Plots as SVG. Colours are in the style, by class.

use maud::{Markup, html};

/// The size of a plot in units of its own; the page gives it its width.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 180.0;

/// The room below for the names of days, and above for the largest value.
const BELOW: f64 = 20.0;
const ABOVE: f64 = 18.0;

/// One place on the axis, with a value for each series.
#[derive(Debug)]
pub(crate) struct Group {
    /// Its name.
    pub(crate) name: String,
    /// The values, in the order of the series.
    pub(crate) values: Vec<u64>,
}

/// Returns bars side by side. `title` says what is plotted, for those who can't see it.
pub(crate) fn bars(title: &str, series: &[&str], groups: &[Group]) -> Markup {
    let most = groups.iter().flat_map(|group| &group.values).copied().max().unwrap_or_default().max(1);
    let step = WIDTH / groups.len().max(1) as f64;
    let width = (step * 0.8 / series.len().max(1) as f64).min(24.0);
    let room = HEIGHT - BELOW - ABOVE;
    html! {
        figure {
            svg.plot viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(title) preserveAspectRatio="none" {
                line.axis x1="0" x2=(WIDTH) y1=(HEIGHT - BELOW) y2=(HEIGHT - BELOW) {}
                @for (at, group) in groups.iter().enumerate() {
                    @let left = step * at as f64 + (step - width * series.len() as f64) / 2.0;
                    @for (kind, value) in group.values.iter().enumerate() {
                        @let height = room * *value as f64 / most as f64;
                        rect class=(format!("series{kind}")) x=(round(left + width * kind as f64)) width=(round(width))
                            y=(round(HEIGHT - BELOW - height)) height=(round(height)) {
                            title { (group.name) ": " (series.get(kind).copied().unwrap_or_default()) " " (herma_base::out::thousands(*value)) }
                        }
                    }
                }
            }
            figcaption {
                @for (kind, name) in series.iter().enumerate() { span.key { i class=(format!("series{kind}")) {} (name) } }
                @if let (Some(first), Some(last)) = (groups.first(), groups.last()) {
                    span.quiet { (first.name) " to " (last.name) ", at most " (herma_base::out::thousands(most)) }
                }
            }
        }
    }
}

/// One row of a timeline: a bar from a time to a time, with marks.
#[derive(Debug)]
pub(crate) struct Lane {
    /// Its name.
    pub(crate) name: String,
    /// Where it leads.
    pub(crate) address: String,
    /// When it began and ended, in Unix seconds.
    pub(crate) span: (f64, f64),
    /// The marks on it: their class, time and words.
    pub(crate) marks: Vec<(&'static str, f64, String)>,
}

/// Returns rows of bars on one axis of time, oldest at the left.
pub(crate) fn timeline(title: &str, (since, until): (f64, f64), lanes: &[Lane]) -> Markup {
    let row = 22.0;
    let height = row * lanes.len() as f64;
    let at = |time: f64| round(((time - since) / (until - since).max(1.0)).clamp(0.0, 1.0) * WIDTH);
    html! {
        svg.timeline viewBox=(format!("0 0 {WIDTH} {height}")) role="group" aria-label=(title) {
            @for (number, lane) in lanes.iter().enumerate() {
                @let top = row * number as f64;
                a href=(lane.address) aria-label=(lane.name) {
                    title { (lane.name) }
                    rect.room x="0" width=(WIDTH) y=(top) height=(row - 2.0) {}
                    rect.lane x=(at(lane.span.0)) width=(round((at(lane.span.1) - at(lane.span.0)).max(3.0))) y=(top + 5.0) height=(row - 12.0) rx="2" {}
                    @for (class, time, words) in &lane.marks {
                        circle class=(class) cx=(at(*time)) cy=(top + row / 2.0 - 1.0) r="4" { title { (words) } }
                    }
                }
            }
        }
    }
}

/// Rounds a length, so that pages stay short and the same.
fn round(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_keep_their_proportions_and_names_are_escaped() {
        let group = |name: &str, values: &[u64]| Group { name: name.into(), values: values.to_vec() };
        let drawn = bars("t", &["a<b", "c"], &[group("<Mon>", &[10, 0]), group("Tue", &[5, 10])]).into_string();
        assert!(drawn.contains("height=\"142\"") && drawn.contains("height=\"71\""), "{drawn}");
        assert!(drawn.contains("&lt;Mon&gt;") && !drawn.contains("<Mon>"), "{drawn}");
        assert!(bars("t", &["a"], &[]).into_string().contains("<svg"));
        let lane = Lane {
            name: "\"x\"".into(),
            address: "/s".into(),
            span: (5.0, 20.0),
            marks: vec![("spill", 10.0, "w".into())],
        };
        let drawn = timeline("t", (0.0, 20.0), &[lane]).into_string();
        assert!(
            drawn.contains("x=\"180\"") && drawn.contains("cx=\"360\"") && drawn.contains("&quot;x&quot;"),
            "{drawn}"
        );
    }
}

//! Draws the samples: a small chart for each column, one above the other.

use crate::measure::{COLUMNS, Sample};

/// In pixels.
const WIDTH: usize = 900;
const HEIGHT: usize = 90;
const LEFT: usize = 150;

/// Returns the charts as SVG.
pub(crate) fn svg(samples: &[Sample]) -> String {
    let columns = &COLUMNS[1..COLUMNS.len() - 1];
    let height = columns.len() * (HEIGHT + 20) + 40;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        LEFT + WIDTH + 20
    );
    let last = samples.last().map_or(1, |sample| sample.second.max(1));
    let x = |second: u64| LEFT + scaled(second, last, WIDTH);
    for (row, (name, cell)) in columns.iter().enumerate() {
        let top = row * (HEIGHT + 20) + 15;
        let most = samples.iter().map(cell).max().unwrap_or(0).max(1);
        for pair in samples.windows(2).filter(|pair| pair[0].calm == 1) {
            let (from, to) = (x(pair[0].second), x(pair[1].second));
            text.push_str(&format!(
                "<rect x=\"{from}\" y=\"{top}\" width=\"{}\" height=\"{HEIGHT}\" fill=\"#eef4ff\"/>\n",
                (to - from).max(1)
            ));
        }
        let points: Vec<String> = samples
            .iter()
            .map(|sample| format!("{},{}", x(sample.second), top + HEIGHT - scaled(cell(sample), most, HEIGHT)))
            .collect();
        text.push_str(&format!(
            "<text x=\"4\" y=\"{}\">{name}</text>\n<text x=\"4\" y=\"{}\" fill=\"#666\">most {}</text>\n",
            top + 14,
            top + 30,
            thousands(most)
        ));
        text.push_str(&format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"#1f5fbf\" stroke-width=\"1\"/>\n",
            points.join(" ")
        ));
    }
    text.push_str(&format!(
        "<text x=\"{LEFT}\" y=\"{}\">0 to {last} s; shaded: a calm, in which the daemon is not started again</text>\n</svg>\n",
        height - 10
    ));
    text
}

fn scaled(value: u64, most: u64, length: usize) -> usize {
    let length = u64::try_from(length).unwrap_or(0);
    usize::try_from(value.saturating_mul(length) / most).unwrap_or(0)
}

fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap_or("")).collect();
    groups.join(",")
}

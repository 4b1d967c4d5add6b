//! Tables for people. A column is as wide as a terminal shows it: two cells for a Chinese or Japanese character, none
//! for a combining mark.

use herma_client::protocol::visible::visible_line;
use unicode_width::UnicodeWidthStr;

use super::{ellipsis, shortened, width};

/// The fewest columns to which a cell is cut.
const LEAST: usize = 10;

/// The side on which the cells of a column are aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Left, for words.
    Left,
    /// Right, for numbers.
    Right,
}

/// Lays out two columns; the left one is as wide as its longest cell.
pub fn columns(rows: &[(&str, String)]) -> String {
    let width = rows.iter().map(|(name, _)| shown_width(name)).max().unwrap_or(0);
    rows.iter().fold(String::new(), |mut text, (name, value)| {
        text.push_str(&format!("{}  {value}\n", padded(name, width, Align::Left)));
        text
    })
}

/// Lays out rows under a head. Each column except the last is as wide as its longest cell.
pub fn table<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> String {
    sided(head, [Align::Left; N], rows)
}

/// Lays out rows under a head, with a side for each column. On a terminal the last column is cut to the columns that
/// are left. A pipe gets it whole.
pub fn sided<const N: usize>(head: [&str; N], sides: [Align; N], rows: &[[String; N]]) -> String {
    laid_out(head, sides, rows, (width(), ellipsis()))
}

/// Returns the columns that a terminal has left for the last column of a table; `None` for a pipe.
pub fn room<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> Option<usize> {
    width().map(|columns| left(widths(head, rows), columns))
}

fn left<const N: usize>(widths: [usize; N], columns: usize) -> usize {
    let taken: usize = widths.iter().rev().skip(1).map(|width| width + 2).sum();
    // Some terminals begin a new line after a char in the last column.
    columns.saturating_sub(taken + 1).max(LEAST)
}

fn widths<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> [usize; N] {
    std::array::from_fn(|at| {
        let cells = rows.iter().map(|row| shown_width(&row[at]));
        cells.chain([head[at].width()]).max().unwrap_or(0)
    })
}

fn laid_out<const N: usize>(
    head: [&str; N],
    sides: [Align; N],
    rows: &[[String; N]],
    (columns, ellipsis): (Option<usize>, &str),
) -> String {
    let mut widths = widths(head, rows);
    let room = columns.map_or(usize::MAX, |columns| left(widths, columns));
    let is_cut = sides.last() == Some(&Align::Left);
    if let Some(last) = widths.last_mut().filter(|_| is_cut) {
        *last = room.min(*last);
    }
    let mut text = String::new();
    for row in [head.map(str::to_owned)].iter().chain(rows) {
        let cells = row.iter().zip(widths).zip(sides).enumerate().map(|(at, ((cell, width), side))| {
            let cell = if is_cut && at + 1 == N { &shortened(&in_one_line(cell), room, ellipsis) } else { cell };
            padded(cell, width, side)
        });
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// Returns a cell as it will be seen, so that it can be measured.
fn in_one_line(cell: &str) -> String {
    let line = cell.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    visible_line(&line.replace('\t', " ")).into_owned()
}

/// Returns the number of columns that a cell takes.
pub fn shown_width(cell: &str) -> usize {
    visible_line(cell).width()
}

/// Returns a cell with spaces up to a width.
pub fn padded(cell: &str, width: usize, side: Align) -> String {
    // A second line in a cell would look like another row.
    let cell = visible_line(cell);
    let space = " ".repeat(width.saturating_sub(cell.width()));
    match side {
        Align::Left => format!("{cell}{space}"),
        Align::Right => format!("{space}{cell}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_a_table_are_as_wide_as_their_cells() {
        let rows = [["1".to_owned(), "long cell".into(), "x".into()], ["22".into(), String::new(), String::new()]];
        assert_eq!(table(["n", "words", "end"], &rows), "n   words      end\n1   long cell  x\n22\n");
    }

    #[test]
    fn the_last_column_fits_a_terminal_and_is_whole_in_a_pipe() {
        let row = |last: &str| ["first".to_owned(), last.to_owned()];
        let rows = [row("a text that is long"), row("short")];
        let laid_out = |columns| laid_out(["k", "words"], [Align::Left; 2], &rows, (columns, "…"));
        assert_eq!(laid_out(Some(20)), "k      words\nfirst  a text that…\nfirst  short\n");
        assert_eq!(laid_out(Some(0)), "k      words\nfirst  a text th…\nfirst  short\n");
        assert_eq!(laid_out(None), "k      words\nfirst  a text that is long\nfirst  short\n");
        assert_eq!(laid_out(Some(80)), laid_out(None));
        let odd = [row(&"a\tb\u{202e}".repeat(20))];
        let text = super::laid_out(["k", "words"], [Align::Left; 2], &odd, (Some(80), "…"));
        assert!(text.lines().all(|line| shown_width(line) < 80) && text.contains("a b<U+202E>"), "{text}");
        let wide = [row(&"同期は注文を二回送る".repeat(20))];
        let text = super::laid_out(["k", "words"], [Align::Left; 2], &wide, (Some(80), "…"));
        assert!(text.lines().all(|line| shown_width(line) < 80), "{text}");
    }

    #[test]
    fn wide_characters_take_two_cells() {
        let rows = [["日本語".to_owned(), "1".into()], ["ab".into(), "2".into()]];
        assert_eq!(table(["k", "n"], &rows), "k       n\n日本語  1\nab      2\n");
        assert_eq!(columns(&[("名", "1".into()), ("abc", "2".into())]), "名   1\nabc  2\n");
    }

    #[test]
    fn numbers_end_below_each_other() {
        let rows = [["a".to_owned(), "7".into()], ["b".into(), "1,234".into()]];
        assert_eq!(sided(["k", "n"], [Align::Left, Align::Right], &rows), "k      n\na      7\nb  1,234\n");
    }
}

//! `herma top`: a live view of the daemon.

mod app;
mod draw;
mod look;

use std::io::IsTerminal;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use herma_base::{CliContext, Failure, out};
use herma_client::ClientError;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};

use super::watch;
use app::{After, App};

/// The shortest time between two checks of the keyboard and the events.
const TICK: Duration = Duration::from_millis(100);

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Keys: Tab changes between sessions and stores, the arrows or j and k choose, Enter looks into what is\nchosen, l shows the journal of a store, Esc goes back, ? helps, q ends.\n\nNO_COLOR=1 leaves out colours; bars and marks say the same.\n\nExamples:\n  herma top\n  herma top --every 5"
)]
pub(super) struct Arguments {
    /// The seconds between two updates
    #[arg(long, value_name = "SECONDS", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=3600))]
    every: u64,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    if !std::io::stdout().is_terminal() {
        return Err(Failure::Usage("herma top needs a terminal; herma status --json is for programs".into()));
    }
    // If the daemon can't be reached, the error is the same as of every other command.
    drop(context.connect()?);
    let events = events(context);
    let mut terminal = ratatui::init();
    let done = view(context, &mut terminal, &events, Duration::from_secs(arguments.every));
    ratatui::restore();
    done.map_err(|error| Failure::File(format!("the terminal: {error}")))
}

fn view(
    context: &CliContext<'_>,
    terminal: &mut DefaultTerminal,
    events: &Receiver<String>,
    every: Duration,
) -> std::io::Result<()> {
    let mut app = App::new(out::wants_colours());
    let mut link = look::Link::new(context);
    let mut next = Instant::now();
    loop {
        events.try_iter().for_each(|event| app.add_event(event));
        if Instant::now() >= next {
            app.looked(link.overview());
            if let Some(place) = app.inside() {
                app.detail(link.detail(place));
            }
            next = Instant::now() + every;
        }
        terminal.draw(|frame| draw::draw(frame, &app))?;
        if !event::poll(TICK)? {
            continue;
        }
        if let Event::Key(key) = event::read()?
            && key.kind == KeyEventKind::Press
        {
            match app.key(key.code, key.modifiers) {
                After::Ends => return Ok(()),
                After::LooksAgain => next = Instant::now(),
                After::Nothing => {}
            }
        }
    }
}

/// Returns the events of the daemon, a line each, as long as the receiver exists. If the daemon goes away, waits for a
/// new one.
fn events(context: &CliContext<'_>) -> Receiver<String> {
    let (sender, receiver) = channel();
    let place = context.place.clone();
    std::thread::spawn(move || {
        loop {
            let listened = look::connected(&place).and_then(|mut client| {
                watch::subscribe(&mut client, &watch::usual())?;
                client.set_timeout(None)?;
                loop {
                    let message = watch::describe(&client.next_notification()?, &out::clock());
                    if sender.send(message).is_err() {
                        return Ok(());
                    }
                }
            });
            match listened {
                Ok(()) => return,
                Err::<(), ClientError>(_) => std::thread::sleep(Duration::from_secs(1)),
            }
        }
    });
    receiver
}

//! Compressions from end to end. One program, because each one is linked by itself.

mod colours;
mod engine;
mod forms;
mod hosts;
mod no_dead_end;
mod over_threshold;
mod properties;
mod real;
mod roles;
mod rounds;
mod scripts;
mod secrets;

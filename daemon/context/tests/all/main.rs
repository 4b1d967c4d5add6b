//! Compressions from end to end, in one program, because each test program is linked separately.

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

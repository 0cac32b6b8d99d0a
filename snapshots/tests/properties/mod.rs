//! Properties of the whole engine over random inputs from fixed seeds.

mod deep;
mod goldens;
mod interrupted;
mod law_table;
mod missing_content;
mod nonsense;
mod records;
mod simulation;
mod stories;
mod texts;
mod tools;
mod two_files;
mod unattributed;

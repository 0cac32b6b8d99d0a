//! The definitions of files, one a line, for comparing with other tools (docs/languages.md): file names are read from the
//! standard input. The last line of a file says where it couldn't be read.
#![allow(clippy::print_stdout, missing_docs)]

use std::io::{self, BufRead as _};

use tslp_core::extract::Grammars as _;
use tslp_core::path::RelPath;
use tslp_grammars::TreeSitterGrammars;

fn main() -> io::Result<()> {
    for name in io::stdin().lock().lines() {
        let name = name?;
        let source = std::fs::read(&name)?;
        let Some(language) = TreeSitterGrammars.language_of_path(&RelPath::from_normalised(&name))
        else {
            continue;
        };
        let extraction = match TreeSitterGrammars.extract(language, &source) {
            Ok(extraction) => extraction,
            Err(error) => {
                println!("{name}\t{error:?}");
                continue;
            }
        };
        let line_ends: Vec<usize> = (0..source.len())
            .filter(|at| source[*at] == b'\n')
            .collect();
        let line = |at: u32| line_ends.partition_point(|end| *end < at as usize) + 1;
        for definition in &extraction.definitions {
            println!(
                "{name}\t{}\t{}\t{}\t{}\t{}\t{:?}\t{:?}\t{}",
                line(definition.span.start),
                line(definition.head.start),
                line(definition.head.end),
                line(definition.span.end),
                definition.damaged,
                definition.body,
                definition.proof,
                definition.symbol,
            );
        }
        let unread = extraction.unread.iter();
        let places: Vec<String> = unread
            .map(|it| format!("{}:{}", line(it.start), it.of(&source).escape_ascii()))
            .collect();
        println!("{name}\t{} errors: {}", extraction.errors, places.join(" "));
    }
    Ok(())
}

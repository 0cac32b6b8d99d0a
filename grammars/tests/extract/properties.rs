//! What holds for every extraction.

use tslp_core::extract::Extraction;

use crate::shown::extract;

const PIECES: &[&str] = &[
    "int alpha(void) { return 1; }\n",
    "/* doc */\nSTATIC_API int beta(int a) { CHECK(a)\n return a; }\n",
    "struct gamma { int a; struct inner { int b; } c; } delta;\n",
    "#define EPSILON(x) \\\n  (x)\n",
    "#ifdef X\nint zeta(int a) {\n#else\nint zeta(void) {\n#endif\n return 1;\n}\n",
    "// ... existing code ...\n",
    "typedef struct eta { int a; } eta_t;\n\n",
    "int broken(void) { return (1; }\n",
    "namespace n { class C { int m() { return 1; } }; }\n",
    "TEST(Theta, iota) { }\n",
];

fn check_well_formed(source: &[u8], extraction: &Extraction) {
    let mut last = 0;
    for definition in &extraction.definitions {
        let span = definition.span;
        assert!(
            span.start < span.end && span.end as usize <= source.len(),
            "{definition:?}"
        );
        assert!(span.start >= last, "in source order: {definition:?}");
        let head = definition.head;
        assert!(
            span.start <= head.start && head.start < head.end && head.end <= span.end,
            "{definition:?}"
        );
        last = span.start;
        assert!(definition.figures.nodes <= extraction.figures.nodes);
        assert!(definition.figures.tokens <= extraction.figures.tokens);
    }
    for pair in extraction.definitions.windows(2) {
        let (a, b) = (pair[0].span, pair[1].span);
        assert!(
            a.start < b.start || a.end >= b.end,
            "outer before inner: {pair:?}"
        );
        assert!(
            a.end <= b.start || a.end >= b.end,
            "nested or apart: {pair:?}"
        );
    }
}

/// Texts and figures of all definitions.
fn slices(source: &[u8], extraction: &Extraction) -> Vec<(String, Vec<u8>, u32, u32)> {
    let slice = |definition: &tslp_core::extract::Definition| {
        let text = definition.span.of(source).to_vec();
        (
            definition.symbol.to_string(),
            text,
            definition.figures.nodes,
            definition.figures.tokens,
        )
    };
    extraction.definitions.iter().map(slice).collect()
}

#[test]
fn ordered_spans() {
    for file in ["a.c", "a.cpp", "a.h"] {
        for a in PIECES {
            for b in PIECES {
                for c in PIECES {
                    let source = [*a, *b, *c].concat();
                    check_well_formed(source.as_bytes(), &extract(file, source.as_bytes()));
                }
            }
        }
    }
}

#[test]
fn every_prefix() {
    let source = PIECES.concat();
    for end in 0..source.len() {
        let source = &source.as_bytes()[..end];
        check_well_formed(source, &extract("a.cpp", source));
    }
}

/// Slices do not depend on what stands elsewhere in the text.
#[test]
fn independent_slices() {
    for piece in PIECES
        .iter()
        .filter(|piece| !piece.contains("broken") && !piece.contains("..."))
    {
        let alone = slices(piece.as_bytes(), &extract("a.cpp", piece.as_bytes()));
        for other in PIECES.iter().filter(|other| !other.contains("broken")) {
            let source = format!("{other}\n{piece}\n{other}");
            let among = slices(source.as_bytes(), &extract("a.cpp", source.as_bytes()));
            for slice in &alone {
                assert!(among.contains(slice), "{slice:?} among {among:?}");
            }
        }
    }
}

#[test]
fn same_text_same_answer() {
    let source = PIECES.concat();
    assert_eq!(
        extract("a.h", source.as_bytes()),
        extract("a.h", source.as_bytes())
    );
}

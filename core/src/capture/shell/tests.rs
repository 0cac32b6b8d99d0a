//! Scripts as agents write them.

use super::*;

/// One line a here-document: path and what it says.
fn check(script: &str, expected: &[&str]) {
    let found: Vec<String> = here_documents(script)
        .iter()
        .map(|document| {
            let path = document.path.as_deref().unwrap_or("-");
            format!("{path} {:?}", document.code)
        })
        .collect();
    assert_eq!(found, expected, "{script}");
}

#[test]
fn here_documents_go_to_files() {
    for (opening, path) in [
        ("cat > src/a.c <<'EOF'", "src/a.c"),
        ("cat <<EOF >src/a.c", "src/a.c"),
        ("cat <<\"EOF\" >> './src/a.c'", "./src/a.c"),
        ("tee src/a.c <<EOF", "src/a.c"),
        ("sudo tee -a src/a.c >/dev/null <<\\EOF", "src/a.c"),
        ("cat <<EOF | tee src/a.c > /dev/null", "src/a.c"),
        ("cat <<EOF 2>/tmp/log | sort > src/a.c", "src/a.c"),
        (
            "mkdir -p x && cat > src/a.c <<- EOF && echo $((1<<2))",
            "src/a.c",
        ),
        ("cd /w/src; cat > a.c <<EOF", "/w/src/a.c"),
        ("cd src && cd sub && cat 1> \"$X/a.c\" <<EOF", "src/sub/a.c"),
        ("python3 - <<EOF", "-"),
    ] {
        let expected = format!("{path} \"int a;\\n\"");
        let script = format!("echo 'a\nb'\n{opening}\nint a;\nEOF\nmake > log\n");
        check(&script, &[&expected]);
        assert_eq!(
            here_document_of(opening),
            Some(Some(path.to_string()).filter(|path| path != "-"))
        );
    }
}

#[test]
fn several_and_what_the_shell_makes_of_them() {
    check(
        "cat > a.c <<A && cat > b.c <<-'B'\nint a = \\$x;\\\\ \\n\nA\n\tint b;\\\\\n\tB\nint c;\n",
        &[
            "a.c \"int a = $x;\\\\ \\\\n\\n\"",
            "b.c \"int b;\\\\\\\\\\n\"",
        ],
    );
    check(
        "cat > a.c <<EOF\r\nint a;\r\nEOF\r\n",
        &["a.c \"int a;\\r\\n\""],
    );
    check(
        "cat > a.c <<EOF\nint a;\n EOF\n",
        &["a.c \"int a;\\n EOF\\n\""],
    );
    check("cat > a.c <<EOF", &["a.c \"\""]);
}

#[test]
fn among_other_text() {
    let check = |text: &str, expected: &[&str]| {
        let found: Vec<String> = bare_here_documents(text, 0..text.len())
            .into_iter()
            .map(|(_, document)| {
                assert_eq!(text[document.body.clone()], *document.code);
                format!("{} {:?}", document.path.unwrap_or_default(), document.code)
            })
            .collect();
        assert_eq!(found, expected, "{text}");
    };
    check(
        "I run\n$ cat > a.c <<'EOF'\nint a;\nEOF\nand\n<command>tee b.c <<X\nint b;\nX</command>\n",
        &["a.c \"int a;\\n\"", "b.c \"int b;\\n\""],
    );
    check("cat > a.c <<EOF\nint a;\n", &[]);
    check("std::cout << cat << x;\nx\n", &[]);
    check("<<\n<\n<<<\n", &[]);
}

#[test]
fn what_is_no_here_document() {
    for script in [
        "echo $((1 << 2))\nint a;\n",
        "cat <<< word\nint a;\n",
        "echo 'cat <<EOF'\nint a;\nEOF\n",
        "# cat <<EOF\nint a;\nEOF\n",
        "git commit -m \"$(cat <<EOF\nint a;\nEOF\n)\"\n",
        "a < b > c\n",
        "",
        "<<",
        "\\",
        "'",
    ] {
        check(script, &[]);
    }
}

#[test]
fn commands_show_files() {
    let check = |command: &str, files: &[&str], named: &[&str]| {
        let shows = shows(command);
        assert_eq!(shows.files, files, "{command}");
        assert_eq!(shows.named, named, "{command}");
    };
    check("cat src/a.c", &["src/a.c"], &["src/a.c"]);
    check(
        "cd src && head -n 50 a.c b.c",
        &["src/a.c", "src/b.c"],
        &["src/a.c", "src/b.c"],
    );
    check("sed -n '1,40p' src/a.c | nl", &["src/a.c"], &["src/a.c"]);
    check("cat Makefile", &["Makefile"], &[]);
    check("cat src/*.c", &[], &["src/*.c"]);
    check("cat ~/w/src/a.c $W/b.c", &["a.c", "b.c"], &["a.c", "b.c"]);
    check("awk '{print}' a.c", &["a.c"], &["{print}", "a.c"]);
    check("grep -rn add src/a.c", &[], &["src/a.c"]);
    check("ls; cat src/a.c", &[], &["src/a.c"]);
    check("", &[], &[]);
}

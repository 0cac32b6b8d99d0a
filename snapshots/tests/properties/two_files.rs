//! One fence with code of two files, in eight languages and many forms: no definition becomes true in a file that doesn't have it.

use std::collections::BTreeSet;

use tslp_core::artifact::Origin;
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::path::RelPath;
use tslp_snapshots::script;
use tslp_snapshots::stage::{EngineMemory, play_script};

/// Two files of a language, each with two functions; `{}` is what a change adds.
struct Project {
    tag: &'static str,
    paths: [&'static str; 2],
    comment: fn(&str) -> String,
    /// Name and code of two functions a file, the first of which changes.
    code: [[(&'static str, &'static str); 2]; 2],
    /// A function that no file has.
    new: &'static str,
}

fn slashes(path: &str) -> String {
    format!("// {path}")
}

fn hash(path: &str) -> String {
    format!("# {path}")
}

fn block(path: &str) -> String {
    format!("/* {path} */")
}

const C: [[(&str, &str); 2]; 2] = [
    [
        (
            "clock",
            "int clock(int minutes) {\n    if (minutes < 0) return -1;\n    int hours = minutes / 60;{}\n    return hours * 100 + minutes % 60;\n}\n",
        ),
        (
            "pause",
            "int pause(int first, int second) {\n    int gap = second - first;\n    return gap > 30 ? gap : 0;\n}\n",
        ),
    ],
    [
        (
            "widest",
            "int widest(const int *cells, int count) {\n    int most = 0;\n    for (int at = 0; at < count; at++) {\n        if (cells[at] > most) most = cells[at];\n    }{}\n    return most;\n}\n",
        ),
        (
            "narrow",
            "int narrow(int size, int limit) {\n    if (size > limit) return limit;\n    return size;\n}\n",
        ),
    ],
];

const JS: [[(&str, &str); 2]; 2] = [
    [
        (
            "clock",
            "function clock(minutes) {\n  if (minutes < 0) throw new RangeError(\"time\");\n  const hours = Math.floor(minutes / 60);{}\n  return `${hours}:${minutes % 60}`;\n}\n",
        ),
        (
            "pause",
            "function pause(first, second) {\n  const gap = second - first;\n  return gap > 30 ? gap : 0;\n}\n",
        ),
    ],
    [
        (
            "widest",
            "function widest(cells) {\n  let most = 0;\n  for (const cell of cells) {\n    most = Math.max(most, cell.length);\n  }{}\n  return most;\n}\n",
        ),
        (
            "narrow",
            "function narrow(size, limit) {\n  if (size > limit) return limit;\n  return size;\n}\n",
        ),
    ],
];

fn projects() -> [Project; 8] {
    [
        Project {
            tag: "c",
            paths: ["src/day.c", "src/grid.c"],
            comment: block,
            code: C,
            new: "int fresh(int x) {\n    int y = x * 7;\n    return y - 3;\n}\n",
        },
        Project {
            tag: "cpp",
            paths: ["day.cpp", "grid.cpp"],
            comment: slashes,
            code: C,
            new: "int fresh(int x) {\n    int y = x * 7;\n    return y - 3;\n}\n",
        },
        Project {
            tag: "javascript",
            paths: ["day.js", "lib/grid.js"],
            comment: slashes,
            code: JS,
            new: "function fresh(x) {\n  const y = x * 7;\n  return y - 3;\n}\n",
        },
        Project {
            tag: "typescript",
            paths: ["day.ts", "grid.ts"],
            comment: slashes,
            code: JS,
            new: "function fresh(x) {\n  const y = x * 7;\n  return y - 3;\n}\n",
        },
        Project {
            tag: "python",
            paths: ["day.py", "grid.py"],
            comment: hash,
            code: [
                [
                    (
                        "clock",
                        "def clock(minutes):\n    if minutes < 0:\n        raise ValueError(minutes)\n    hours = minutes // 60{}\n    return f'{hours}:{minutes % 60}'\n",
                    ),
                    (
                        "pause",
                        "def pause(first, second):\n    gap = second - first\n    return gap if gap > 30 else 0\n",
                    ),
                ],
                [
                    (
                        "widest",
                        "def widest(cells):\n    most = 0\n    for cell in cells:\n        most = max(most, len(cell)){}\n    return most\n",
                    ),
                    (
                        "narrow",
                        "def narrow(size, limit):\n    if size > limit:\n        return limit\n    return size\n",
                    ),
                ],
            ],
            new: "def fresh(x):\n    y = x * 7\n    return y - 3\n",
        },
        Project {
            tag: "rust",
            paths: ["src/day.rs", "src/grid.rs"],
            comment: slashes,
            code: [
                [
                    (
                        "clock",
                        "fn clock(minutes: u32) -> String {\n    let hours = minutes / 60;\n    let rest = minutes % 60;{}\n    format!(\"{hours}:{rest}\")\n}\n",
                    ),
                    (
                        "pause",
                        "fn pause(first: u32, second: u32) -> u32 {\n    let gap = second - first;\n    if gap > 30 { gap } else { 0 }\n}\n",
                    ),
                ],
                [
                    (
                        "widest",
                        "fn widest(cells: &[String]) -> usize {\n    let mut most = 0;\n    for cell in cells {\n        most = most.max(cell.len());\n    }{}\n    most\n}\n",
                    ),
                    (
                        "narrow",
                        "fn narrow(size: usize, limit: usize) -> usize {\n    if size > limit { return limit; }\n    size\n}\n",
                    ),
                ],
            ],
            new: "fn fresh(x: u32) -> u32 {\n    let y = x * 7;\n    y - 3\n}\n",
        },
        Project {
            tag: "go",
            paths: ["day.go", "grid.go"],
            comment: slashes,
            code: [
                [
                    (
                        "clock",
                        "func clock(minutes int) string {\n\thours := minutes / 60\n\trest := minutes % 60{}\n\treturn fmt.Sprintf(\"%d:%d\", hours, rest)\n}\n",
                    ),
                    (
                        "pause",
                        "func pause(first int, second int) int {\n\tgap := second - first\n\treturn max(gap, 0)\n}\n",
                    ),
                ],
                [
                    (
                        "widest",
                        "func widest(cells []string) int {\n\tmost := 0\n\tfor _, cell := range cells {\n\t\tmost = max(most, len(cell))\n\t}{}\n\treturn most\n}\n",
                    ),
                    (
                        "narrow",
                        "func narrow(size int, limit int) int {\n\tif size > limit {\n\t\treturn limit\n\t}\n\treturn size\n}\n",
                    ),
                ],
            ],
            new: "func fresh(x int) int {\n\ty := x * 7\n\treturn y - 3\n}\n",
        },
        Project {
            tag: "ruby",
            paths: ["day.rb", "grid.rb"],
            comment: hash,
            code: [
                [
                    (
                        "clock",
                        "def clock(minutes)\n  raise ArgumentError if minutes < 0\n  hours = minutes / 60{}\n  \"#{hours}:#{minutes % 60}\"\nend\n",
                    ),
                    (
                        "pause",
                        "def pause(first, second)\n  gap = second - first\n  gap > 30 ? gap : 0\nend\n",
                    ),
                ],
                [
                    (
                        "widest",
                        "def widest(cells)\n  most = 0\n  cells.each { |cell| most = [most, cell.length].max }{}\n  most\nend\n",
                    ),
                    (
                        "narrow",
                        "def narrow(size, limit)\n  return limit if size > limit\n  size\nend\n",
                    ),
                ],
            ],
            new: "def fresh(x)\n  y = x * 7\n  y - 3\nend\n",
        },
    ]
}

impl Project {
    fn before(&self, file: usize) -> String {
        let codes = self.code[file]
            .iter()
            .map(|(_, code)| code.replacen("{}", "", 1));
        codes.collect::<Vec<_>>().join("\n")
    }

    /// A file's first function as it is changed.
    fn changed(&self, file: usize) -> String {
        let first = self.code[file][0].1;
        let after = first.find("{}").expect("a place for the change");
        let line = first[..after].lines().last().expect("a line");
        let indent = &line[..line.len() - line.trim_start().len()];
        // A block that ends there goes on in its function.
        let indent = match line.trim() {
            "}" => indent,
            _ if self.tag == "python" && file == 1 => "    ",
            _ => indent,
        };
        let remark = match (self.comment)("") {
            hash if hash.starts_with('#') => "# noted",
            _ => "/* noted */",
        };
        let statement = match self.tag {
            "python" => "note(1)",
            "ruby" => "note(1)",
            "go" => "note(1)",
            _ => "note(1);",
        };
        first.replacen("{}", &format!("\n{indent}{remark}\n{indent}{statement}"), 1)
    }

    /// Replies with both changes in one fence.
    fn replies(&self) -> Vec<String> {
        let [one, two] = [self.changed(0), self.changed(1)];
        let [other, last] = [0, 1].map(|file| self.code[file][1].1.to_owned());
        let (first, second) = (self.paths[0], self.paths[1]);
        let comment = self.comment;
        let fence = |info: &str, code: &str| format!("Here:\n```{}{info}\n{code}```\n", self.tag);
        let headed = |head: &dyn Fn(&str) -> String| {
            format!("{}\n{one}\n{}\n{two}", head(first), head(second))
        };
        let mut replies = vec![
            fence("", &headed(&|path| comment(path))),
            fence("", &headed(&|path| comment(&format!("File: {path}")))),
            fence("", &headed(&|path| comment(&format!("---- {path} ----")))),
            fence("", &headed(&|path| comment(&format!("{path} (changed)")))),
            fence("", &headed(&|path| comment(&format!("==== `{path}`:")))),
            // The second heading alone, below the first file's path.
            fence(
                &format!(":{first}"),
                &format!("{one}\n{}\n{two}", comment(second)),
            ),
            fence(
                &format!(" title=\"{first}\""),
                &format!("{one}\n{}\n{two}", comment(second)),
            ),
            format!(
                "**{first}**\n{}",
                &fence("", &format!("{one}\n{}\n{two}", comment(second)))["Here:\n".len()..]
            ),
            fence("", &format!("{one}\n{}\n{two}", comment(second))),
            // Without a comment.
            fence("", &format!("{one}\n{two}")),
            fence("", &format!("{two}\n{one}")),
            fence("", &format!("{one}\n{other}\n{two}\n{last}")),
            fence("", &format!("{one}\n{two}\n{}", self.new)),
            fence("", &format!("{}\n{two}\n{one}", self.new)),
            // Below one file's path.
            fence(&format!(":{first}"), &format!("{one}\n{two}")),
            fence(&format!(":{second}"), &format!("{one}\n{two}")),
            fence(
                &format!(":{first}"),
                &format!("{one}\n{other}\n{two}\n{last}"),
            ),
            format!(
                "{first}\n{}",
                &fence("", &format!("{one}\n{two}"))["Here:\n".len()..]
            ),
            fence("", &format!("{}\n{one}\n{two}", comment(first))),
            fence("", &format!("{}\n{two}\n{one}", comment(second))),
            fence(
                "",
                &format!("{}\n{one}\n{other}\n{two}\n{last}", comment(first)),
            ),
            // Two fences, the other file's function in the second one as well.
            format!(
                "{}{}",
                fence(&format!(":{first}"), &format!("{one}\n{other}")),
                fence(&format!(":{first}"), &two)
            ),
            format!(
                "{}{}",
                fence(&format!(":{first}"), &one),
                fence(&format!(":{second}"), &format!("{two}\n{one}"))
            ),
        ];
        // Repeated as our block, with both in it.
        let block = format!(
            "[CURRENT STATE: AUTHORITATIVE]\nEntity: {first}::clock\nArtifact: 0123456789ab\nSource: Confirmed via AST\n\n```{}\n{one}\n{two}```\n[END CURRENT STATE]\n",
            self.tag
        );
        replies.push(block.clone());
        replies.push(block.replace("[END CURRENT STATE]\n", ""));
        replies
    }
}

fn told(text: &str) -> String {
    let lines = text.lines().map(|line| format!("| {line}\n"));
    lines.collect()
}

/// law 4.1 (1) | A comment line that is a path begins that file's code in a fence; without one a definition goes to the known file that has it, and not to a file because its neighbour belongs there | ast_match
#[test]
fn kept_apart() {
    let (mut replies, mut changed) = (0, 0);
    for project in projects() {
        for reply in project.replies() {
            let files = [0, 1].map(|file| {
                let path = project.paths[file];
                format!(
                    "disk {path}\n{}command accept {path}\n",
                    told(&project.before(file))
                )
            });
            let story = format!(
                "{}user\n| Change `clock` of {} and `widest` of {}.\nmodel\n{}",
                files.concat(),
                project.paths[0],
                project.paths[1],
                told(&reply)
            );
            let stage = play_script(script::parse(&story), EngineMemory::All);
            replies += 1;
            for file in [0, 1] {
                let path = RelPath::from_normalised(project.paths[file]);
                let found = stage.state().state_map().symbols_of(&path);
                let found: BTreeSet<&str> = found.iter().map(|it| it.as_str()).collect();
                let names = project.code[file].map(|(name, _)| name);
                let new = ["fresh"];
                let strange: Vec<&&str> = found
                    .iter()
                    .filter(|it| !names.contains(it) && !new.contains(it))
                    .collect();
                assert!(strange.is_empty(), "{strange:?} in {path}:\n{story}");
                assert!(
                    names.iter().all(|it| found.contains(it)),
                    "{found:?} in {path}:\n{story}"
                );
                let is_new_here = project.code[file].iter().take(1).any(|(name, _)| {
                    let entity = EntityId::symbol(path.clone(), Symbol::new(name));
                    let current = stage.view().current_version(&entity).expect("true");
                    current.origin == Origin::Model
                });
                changed += usize::from(is_new_here);
            }
        }
    }
    assert_eq!(replies, 200);
    // Each reply changes both, but for what a gate refuses.
    assert!(changed >= 360, "{changed} of 400 changes were taken");
}

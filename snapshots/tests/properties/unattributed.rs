//! Damage that no judged edit explains is never true and never the user's, whatever made it, and what is sound beside it stays true.

use tslp_core::artifact::Origin;
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::path::RelPath;
use tslp_core::policy::Policy;
use tslp_projections::state::StateView;
use tslp_snapshots::replay_check;
use tslp_snapshots::script;
use tslp_snapshots::stage::Stage;
use tslp_snapshots::store::MemoryStore;

/// A file with a function `total` to damage, and one that stays.
struct Project {
    path: &'static str,
    head: &'static str,
    body: &'static str,
    tail: &'static str,
    other: &'static str,
    /// One of the body's checks, and statements that replace all of the body.
    check: &'static str,
    stub: &'static str,
}

const PROJECTS: [Project; 5] = [
    Project {
        path: "shop/cart.py",
        head: "def total(items):\n",
        body: "    result = 0\n    for item in items:\n        if item.price < 0:\n            raise ValueError(item)\n        result += item.price * item.count\n    return result\n",
        tail: "",
        other: "def discount(amount, percent):\n    if percent > 100:\n        raise ValueError(percent)\n    return amount * (100 - percent) / 100\n",
        check: "        if item.price < 0:\n            raise ValueError(item)\n",
        stub: "    return 0\n",
    },
    Project {
        path: "src/cart.rs",
        head: "pub fn total(items: &[Item]) -> u64 {\n",
        body: "    let mut result = 0;\n    for item in items {\n        if item.count == 0 {\n            panic!(\"no item\");\n        }\n        result += item.price * item.count;\n    }\n    result\n",
        tail: "}\n",
        other: "pub fn discount(amount: u64, percent: u64) -> u64 {\n    assert!(percent <= 100);\n    amount * (100 - percent) / 100\n}\n",
        check: "        if item.count == 0 {\n            panic!(\"no item\");\n        }\n",
        stub: "    0\n",
    },
    Project {
        path: "src/cart.c",
        head: "long total(const struct item *items, int n)\n{\n",
        body: "    long result = 0;\n    for (int i = 0; i < n; i++) {\n        if (items[i].count < 0) {\n            abort();\n        }\n        result += items[i].price * items[i].count;\n    }\n    return result;\n",
        tail: "}\n",
        other: "long discount(long amount, int percent)\n{\n    if (percent > 100) {\n        abort();\n    }\n    return amount * (100 - percent) / 100;\n}\n",
        check: "        if (items[i].count < 0) {\n            abort();\n        }\n",
        stub: "    return 0;\n",
    },
    Project {
        path: "src/cart.js",
        head: "export function total(items) {\n",
        body: "  let result = 0;\n  for (const item of items) {\n    if (item.price < 0) {\n      throw new Error(item);\n    }\n    result += item.price * item.count;\n  }\n  return result;\n",
        tail: "}\n",
        other: "export function discount(amount, percent) {\n  if (percent > 100) {\n    throw new Error(percent);\n  }\n  return amount * (100 - percent) / 100;\n}\n",
        check: "    if (item.price < 0) {\n      throw new Error(item);\n    }\n",
        stub: "  return 0;\n",
    },
    Project {
        path: "cart/cart.go",
        head: "func total(items []Item) int {\n",
        body: "\tresult := 0\n\tfor _, item := range items {\n\t\tif item.Price < 0 {\n\t\t\tpanic(item)\n\t\t}\n\t\tresult += item.Price * item.Count\n\t}\n\treturn result\n",
        tail: "}\n",
        other: "func discount(amount int, percent int) int {\n\tif percent > 100 {\n\t\tpanic(percent)\n\t}\n\treturn amount * (100 - percent) / 100\n}\n",
        check: "\t\tif item.Price < 0 {\n\t\t\tpanic(item)\n\t\t}\n",
        stub: "\treturn 0\n",
    },
];

impl Project {
    fn text(&self, total: Option<&str>, other: &str) -> String {
        let first = if self.path.ends_with(".go") {
            "package cart\n\n"
        } else {
            ""
        };
        let total = total.map_or_else(String::new, |body| {
            [self.head, body, self.tail, "\n\n"].concat()
        });
        [first, &total, other].concat()
    }

    /// The damaged texts of the file.
    fn damages(&self) -> [String; 4] {
        let first_half: String = self.body.split_inclusive('\n').take(1).collect();
        [
            self.text(Some(self.stub), self.other),
            // What is taken away alone is deliberate.
            self.text(
                Some(&self.body.replace(self.check, "").replace("result", "sum")),
                self.other,
            ),
            self.text(None, self.other),
            // Something else is made better with it.
            self.text(
                Some(&(first_half + self.stub)),
                &self.other.replace("100)", "99)"),
            ),
        ]
    }
}

/// The ways in which a change comes to disk: what the model calls, and what happens between that and the file's being read.
const WAYS: [(&str, &str, &str); 10] = [
    (
        "a command that names the file",
        "bash",
        "sed -i s/a/b/ FILE",
    ),
    ("a script", "bash", "python tidy.py"),
    ("a text that a shell writes", "bash", "cat > FILE <<'EOF'"),
    ("a tool nobody knows", "apply_quickfix", "7"),
    ("a task of another agent", "task", "tidy up"),
    (
        "an edit whose file can't be told",
        "edit",
        "/elsewhere/FILE",
    ),
    ("a script, read a turn later", "bash", "make tidy"),
    (
        "a script, another conversation looks first",
        "bash",
        "./tidy",
    ),
    (
        "a script, shown by the client in the next prompt",
        "bash",
        "npm run tidy",
    ),
    ("a script, and a program started anew", "bash", "tox -e fix"),
];

fn bars(text: &str) -> String {
    text.lines().map(|line| format!("| {line}\n")).collect()
}

fn story(project: &Project, damaged: &str, way: (&str, &str, &str)) -> String {
    let Project { path, .. } = project;
    let sound = project.text(Some(project.body), project.other);
    let read = format!("call read\n| {{\"path\": \"{path}\"}}\nmodel\n| I read.\n");
    let shown = |text: &str| format!("context tool\n{}again\n", bars(text));
    let command = way.2.replace("FILE", path);
    let mut story = format!(
        "touch\ntools\ndisk {path}\n{}user\n| Tidy {path}, please.\n",
        bars(&sound)
    );
    story += &(read.clone() + &shown(&sound));
    story += &format!(
        "call {}\n| {{\"command\": \"{command}\"}}\nmodel\n| I tidy.\n",
        way.1
    );
    story += &format!("disk {path}\n{}", bars(damaged));
    if way.0.ends_with("looks first") {
        story += &format!(
            "client B\nuser\n| Read {path}.\n{read}{}model\n| Yes.\nclient A\n",
            shown(damaged)
        );
    }
    story += "context tool\n| done\nagain\n";
    if way.0.ends_with("turn later") {
        story +=
            "model\n| Done.\nuser\n| What is next?\nmodel\n| Ask me.\nuser\n| Read it again.\n";
    }
    if way.0.ends_with("next prompt") {
        story += &format!(
            "model\n| Done.\ncontext\n| {path}\n| ```\n{}| ```\nuser\n| Explain it.\n",
            bars(damaged)
        );
    }
    story + &read + &shown(damaged) + "model\n| It is tidy.\nuser\n| Go on.\nmodel\n| Yes.\n"
}

#[test]
fn never_true_never_the_users() {
    let mut played = 0;
    let mut wrong = Vec::new();
    for project in &PROJECTS {
        for (number, damaged) in project.damages().iter().enumerate() {
            for way in WAYS {
                let script = script::parse(&story(project, damaged, way));
                let mut stage = Stage::new(Policy::default());
                for step in script.steps {
                    stage.step(step);
                    if way.0.ends_with("started anew") {
                        stage = stage.fork();
                    }
                }
                replay_check::check_deep(stage.ledger(), stage.state(), stage.policy());
                played += 1;
                wrong
                    .extend(flaw(&stage, project, damaged).map(|flaw| {
                        format!("{} {}, damage {number}: {flaw}", project.path, way.0)
                    }));
            }
        }
    }
    assert_eq!((played, wrong), (200, Vec::<String>::new()));
}

/// What is true, or the user's, that mustn't be.
fn flaw(stage: &Stage, project: &Project, damaged: &str) -> Option<String> {
    let path = RelPath::from_normalised(project.path);
    let store = MemoryStore::default();
    store.append(stage.ledger(), Vec::new());
    let view = StateView {
        store: &store,
        ..stage.view()
    };
    let text_of = |symbol: &str| {
        let entity = EntityId::symbol(path.clone(), Symbol::new(symbol));
        let current = view.current_version(&entity)?;
        let text = view.artifact_slices(current.artifact, &current.spans)?;
        Some((current.origin, String::from_utf8(text).expect("text")))
    };
    let Some((_, total)) = text_of("total") else {
        return Some("total is lost".into());
    };
    if !total.contains(project.check.trim()) {
        return Some(format!("what is true lacks the check: {total}"));
    }
    let Some((origin, other)) = text_of("discount") else {
        return Some("discount is lost".into());
    };
    if !damaged.contains(other.trim_end()) {
        return Some(format!("what is sound isn't true: {other}"));
    }
    let is_changed = !project.other.contains(other.trim_end());
    if is_changed && origin == Origin::User {
        return Some("a call's change is the user's".into());
    }
    let refused = view.proposals_under(&path);
    let is_told = refused.iter().any(|it| it.refused_for().is_some());
    (!is_told).then(|| "nothing says that code was lost".into())
}

//! Commands over many directories, on the fleet of testdata/fleet.

use crate::support::fleet::fleet;

#[test]
fn the_fleet_builds_without_a_finding() {
    let tree = fleet();
    let built = tree.run(&["build", "--all"]).ok();
    assert_eq!(built.lines().filter(|line| line.starts_with("# Root: ")).count(), 160);
    let lint = tree.run(&["lint", "--all"]);
    assert_eq!((lint.status, lint.stderr.as_str()), (Some(0), ""));
}

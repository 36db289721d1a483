"""The package, with the program that RUSTOMIZE names or that is in it."""

import os
import tempfile
import unittest
from pathlib import Path

import rustomize
from rustomize import RustomizeError

SHOP = {
    "base/kustomization.yaml": "resources: [web.yaml]\n",
    "base/web.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 1}\n",
    "prod/kustomization.yaml": b"resources: [../base]\nreplicas: [{name: web, count: 3}]\n",
}
BROKEN = {**SHOP, "prod/kustomization.yaml": "resources: [../base]\npatches: [{path: nothing.yaml}]\n"}
WEB = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 3\n"


class Build(unittest.TestCase):
    def test_a_mapping_and_a_directory_build_the_same(self) -> None:
        self.assertEqual(rustomize.build(SHOP, root="prod"), WEB)
        with tempfile.TemporaryDirectory() as directory:
            for name, text in SHOP.items():
                path = Path(directory, name)
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(text if isinstance(text, bytes) else text.encode())
            self.assertEqual(rustomize.build(Path(directory, "prod")), WEB)
            self.assertEqual(rustomize.build(directory, root="prod"), WEB)

    def test_an_error_has_file_line_and_hints(self) -> None:
        with self.assertRaises(RustomizeError) as caught:
            rustomize.build(BROKEN, root="prod")
        [error] = caught.exception.errors
        self.assertEqual((error.file, error.line, error.severity), ("prod/kustomization.yaml", 2, "error"))
        self.assertIsInstance(error.hints, tuple)
        self.assertIn("nothing.yaml", str(caught.exception))
        self.assertIn("prod/kustomization.yaml:2:", str(caught.exception))

    def test_options_are_those_of_the_command(self) -> None:
        self.assertEqual(rustomize.build(SHOP, root="prod", compat="5.7.1"), WEB)
        for wrong in ({"compat": "9.9"}, {"load_restrictor": "x"}, {"args": ["--no-such-flag"]}):
            with self.assertRaises(RustomizeError):
                rustomize.build(SHOP, root="prod", **wrong)
        with self.assertRaises(RustomizeError):
            rustomize.build("no-such-directory")

    def test_no_path_leads_out_of_a_mapping(self) -> None:
        for name in ("../a", "/a", "a/../../b", "", ".", "a\0b"):
            with self.assertRaises(ValueError, msg=name):
                rustomize.build({**SHOP, name: ""}, root="prod")
        for root in ("..", "/"):
            with self.assertRaises(ValueError):
                rustomize.build(SHOP, root=root)

    def test_a_call_has_a_limit_of_time(self) -> None:
        maps = "---\n".join(f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m{i}}}\n" for i in range(50_000))
        with self.assertRaisesRegex(RustomizeError, "longer than"):
            rustomize.build({"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": maps}, timeout=0.001)

    def test_a_missing_program_is_an_error(self) -> None:
        before = os.environ.get("RUSTOMIZE")
        os.environ["RUSTOMIZE"] = "/no/such/program"
        try:
            with self.assertRaisesRegex(RustomizeError, "cannot be started"):
                rustomize.build(SHOP, root="prod")
        finally:
            os.environ.pop("RUSTOMIZE")
            if before is not None:
                os.environ["RUSTOMIZE"] = before


class Questions(unittest.TestCase):
    def test_lint_returns_findings(self) -> None:
        unused = {**SHOP, "prod/kustomization.yaml": "resources: [../base]\nimages: [{name: api, newTag: '2'}]\n"}
        [finding] = rustomize.lint(unused, root="prod")
        self.assertEqual((finding.code, finding.file, finding.line), ("no-effect", "prod/kustomization.yaml", 2))
        self.assertEqual(rustomize.lint(SHOP, root="base"), [])
        with self.assertRaises(RustomizeError):
            rustomize.lint(BROKEN, root="prod")

    def test_explain_names_the_line(self) -> None:
        [field] = rustomize.explain(SHOP, "Deployment/web", "spec.replicas", root="prod")["fields"]
        self.assertEqual(field["value"], "3")
        self.assertIn("prod/kustomization.yaml", str(field["writes"]))

    def test_diff_compares_two_sources(self) -> None:
        three = {**SHOP, "prod/kustomization.yaml": "resources: [../base]\n"}
        difference = rustomize.diff(SHOP, three, root="prod")
        self.assertIn("replicas", str(difference))
        self.assertNotIn("replicas", str(rustomize.diff(SHOP, SHOP, root="prod")))

    def test_the_version_is_known(self) -> None:
        self.assertRegex(rustomize.version(), r"\d+\.\d+\.\d+")


if __name__ == "__main__":
    unittest.main()

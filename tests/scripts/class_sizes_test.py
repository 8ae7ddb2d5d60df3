"""Tests scripts/class_sizes on small sources. Usage: class_sizes_test.py SCRIPT"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.abspath(sys.argv.pop(1))


def members(count):
    return "".join(f"  int member_{i}_ = 0;\n" for i in range(count))


def methods(count):
    return "".join(f"  void Method{i}();\n" for i in range(count))


class ClassSizesTest(unittest.TestCase):
    def check(self, **files):
        """The exit status and the lines for files by name, without their endings."""
        with tempfile.TemporaryDirectory() as folder:
            names = []
            for name, text in files.items():
                names.append(name.replace("_h", ".h").replace("_cc", ".cc"))
                with open(os.path.join(folder, names[-1]), "w", encoding="utf-8") as file:
                    file.write("namespace evo {\n" + text + "}\n")
            ran = subprocess.run([SCRIPT, *names], cwd=folder, capture_output=True, text=True, check=False)
            self.assertEqual(ran.stderr, "")
            return ran.returncode, ran.stdout.splitlines()

    def test_a_class_may_have_eleven_members_and_fifteen_private_methods(self):
        text = "class A {\n private:\n" + methods(15) + members(11) + "};\n"
        self.assertEqual(self.check(a_h=text), (0, []))

    def test_twelve_members_are_too_many(self):
        text = "class A {\n private:\n" + members(12) + "};\n"
        self.assertEqual(self.check(a_h=text), (1, ["a.h: A has 12 data members; fewer than 12 are allowed"]))

    def test_sixteen_private_methods_are_too_many(self):
        text = "class A {\n private:\n" + methods(16) + "};\n"
        self.assertEqual(self.check(a_h=text), (1, ["a.h: A has 16 private methods; at most 15 are allowed"]))

    def test_protected_methods_count_and_public_ones_do_not(self):
        text = "class A {\n public:\n  void Public();\n protected:\n" + methods(16) + "};\n"
        self.assertEqual(self.check(a_h=text)[1], ["a.h: A has 16 private methods; at most 15 are allowed"])
        self.assertEqual(self.check(a_h="class A {\n public:\n" + methods(40) + "};\n"), (0, []))

    def test_overloads_count_as_one(self):
        overloads = "".join(f"  void Method(int (&)[{i}]);\n" for i in range(1, 20))
        self.assertEqual(self.check(a_h="class A {\n private:\n" + overloads + "};\n"), (0, []))

    def test_two_classes_of_one_name(self):
        text = "class A {};\nstruct B {};\n"
        self.assertEqual(
            self.check(a_h=text, b_h=text),
            (1, ["b.h: A is also the name of a class in a.h", "b.h: B is also the name of a class in a.h"]),
        )
        self.assertEqual(self.check(a_h="class A;\n" + text, b_h="class A;\nstruct B;\n"), (0, []))
        self.assertEqual(self.check(a_cc="namespace {\nclass A {};\n}\n", b_cc="namespace {\nclass A {};\n}\n"), (0, []))

    def test_what_is_defined_in_another_file_counts_once(self):
        header = "class A {\n private:\n" + methods(15) + "};\n"
        source = "".join(f"void A::Method{i}() {{}}\n" for i in range(15))
        self.assertEqual(self.check(a_h=header, a_cc=source), (0, []))

    def test_a_plain_struct_may_have_more_members(self):
        self.assertEqual(self.check(a_h="struct A {\n  bool Has() const;\n" + members(20) + "};\n"), (0, []))

    def test_a_struct_with_private_methods_is_no_plain_value(self):
        text = "struct A {\n" + members(12) + " private:\n  void Do();\n};\n"
        self.assertEqual(self.check(a_h=text)[1], ["a.h: A has 12 data members; fewer than 12 are allowed"])

    def test_members_of_a_class_inside_are_not_those_of_the_outer_one(self):
        text = "class A {\n  class B {\n" + members(6) + "  };\n" + members(6) + "};\n"
        self.assertEqual(self.check(a_h=text), (0, []))
        text = "class A {\n  class B {\n" + members(12) + "  };\n};\n"
        self.assertEqual(self.check(a_h=text)[1], ["a.h: A::B has 12 data members; fewer than 12 are allowed"])

    def test_classes_of_one_name_in_two_anonymous_namespaces_are_two(self):
        text = "namespace {\nclass A {\n" + members(11) + "};\n}\n"
        self.assertEqual(self.check(a_cc=text, b_cc=text), (0, []))
        text = "namespace {\nclass A {\n" + members(12) + "};\n}\n"
        self.assertEqual(self.check(a_cc=text)[1], ["a.cc: A has 12 data members; fewer than 12 are allowed"])


if __name__ == "__main__":
    if shutil.which("ctags") is None:
        print("universal-ctags is not installed")
        sys.exit(77)
    unittest.main()

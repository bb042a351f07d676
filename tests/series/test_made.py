# SPDX-License-Identifier: GPL-2.0-only
"""What the tests of series take for the kernel's own."""

from __future__ import annotations

from tests.series.made import moved

#: Into two functions, of which diff has the second one new.
SPLIT = """\
diff --git a/mm/a.c b/mm/a.c
--- a/mm/a.c
+++ b/mm/a.c
@@ -10,5 +10,10 @@ void before(void)
 
-void all(void)
+void part(void)
 {
-\tvoid (*tell)(int);
-
+}
+
+void all(void)
+{
+\tvoid (*tell)(int);
+\tvoid (*ours)(int);
+
--- a/mm/b.c
+++ b/mm/b.c
@@ -1 +1,2 @@
 one
+\tvoid (*tell)(int);
"""


def test_a_line_that_comes_back_as_it_was_is_the_kernel_s_own() -> None:
    """And none that is like one of another file, or that nobody had."""
    assert moved(SPLIT) == {f"mm/a.c:{n}" for n in (14, 15, 17, 19)}


def test_a_cover_letter_moves_nothing() -> None:
    assert moved("Subject: [PATCH 0/1] mm: all of it\n\n mm/a.c | 2 +-\n") == set()

"""`cawb look` as its page asks it: the gallery, verdicts with lines, what is refused, and exports. The page itself: test_look_page.py."""
import base64
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from looking import Look
from serving import CAWB, ROOT

HANGS = 'extern "C" __global__ void reverse(float *y, const float *x, int cols) { while (*(volatile float *)x < 1e30f) {} y[0] = x[0]; }\n'


@unittest.skipUnless(CAWB, "CAWB_PROGRAM is not set")
class Asked(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Look("--set", "deadlines.run=3")
        cls.start = cls.server.item("exercise-4/start")
        cls.solution = cls.server.item("exercise-4/solution")

    @classmethod
    def tearDownClass(cls):
        assert cls.server.stop() == 0, cls.server.errors()

    def looked_at(self, state, depth="quick", **changes):
        status, answer = self.server.look(dict(state, **changes), depth)
        self.assertEqual(status, 200, answer)
        return answer

    def test_the_page_runs_its_own_script_alone_and_names_no_other_host(self):
        with urllib.request.urlopen(self.server.url + "/") as reply:
            text, policy = reply.read().decode(), reply.headers["Content-Security-Policy"]
        self.assertNotIn("unsafe", policy)
        self.assertIn("default-src 'none'", policy)
        scripts, styles = re.findall(r"<script>(.*?)</script>", text, re.S), re.findall(r"<style>(.*?)</style>", text, re.S)
        for found in scripts + styles:
            digest = base64.b64encode(hashlib.sha256(found.encode()).digest()).decode()
            self.assertIn("'sha256-%s'" % digest, policy)
        self.assertEqual((len(scripts), len(styles)), (1, 1))
        self.assertNotRegex(re.sub(r'"http://"', "", text), r"https?://|\bstyle=|\bonclick=")

    def test_a_race_has_its_line_and_what_is_known_before_it_is_right(self):
        answer = self.looked_at(self.start)
        self.assertEqual((answer["verdict"], answer["marks"][0]["at"]), ("wrong", "kernel"))
        self.assertIn("piece[127", self.start["source"].split("\n")[answer["marks"][0]["line"] - 1])
        self.assertIn("race", answer["sentence"])
        self.assertTrue(any("st.shared" in text for line, text in answer["code"]["ptx"] if line == answer["marks"][0]["line"]))
        cells = answer["pictures"][0]
        self.assertEqual(len(cells["cells"]), cells["rows"] * cells["columns"])
        self.assertGreater(sum(e != 0 for e in cells["cells"]), 0)
        self.assertAlmostEqual(sum(l["share"] for l in answer["heat"]), 1, places=6)

    def test_an_exercise_tells_how_far_its_goals_are(self):
        for state, reached in ((self.server.item("exercise-2/start"), False), (self.server.item("exercise-2/solution"), True),
                               (self.server.item("exercise-4/start"), False)):          # its count is reached, and it is wrong
            goals = self.looked_at(state)["goals"]
            self.assertEqual({g["reached"] for g in goals}, {reached}, goals)
        self.assertNotIn("goals", self.looked_at(self.server.item("softmax/v3_shuffle")))

    def test_both_accesses_of_a_race_are_marked(self):
        source = self.solution["source"]
        at = source.rindex("    __syncthreads();\n")
        answer = self.looked_at(self.solution, source=source[:at] + source[at + len("    __syncthreads();\n"):])
        fault, other = answer["marks"]
        lines = source.split("\n")
        self.assertEqual((fault["kind"], other["kind"]), ("fault", "note"))
        self.assertEqual({"piece[127" in lines[m["line"] - 1] for m in (fault, other)}, {True, False})

    def test_a_right_kernel_has_times_and_a_limiter(self):
        answer = self.looked_at(self.server.item("softmax/v3_shuffle"), "full")
        self.assertIn(answer["verdict"], ("right", "faster"), answer)
        self.assertEqual([row[0] for row in answer["times"]], ["candidate", "eager", "compile"])
        self.assertTrue(answer["modelled"])
        self.assertIn("limiter", [word for word, _ in answer["known"]])
        self.assertGreater(answer["occupancy"]["share"], 0)
        self.assertNotEqual(answer["timed"], answer["verified"])          # small sizes are verified, its own are timed
        self.assertEqual(answer["marks"], [])

    def test_what_compose_wrote_is_told_by_node_of_the_graph(self):
        item = self.server.item("compose/softmax")
        self.assertIn("softmax", item["nodes"][0]["computes"])
        self.assertIn("__global__", item["source"].split("\n")[item["nodes"][0]["line"] - 1])
        self.assertIn(self.looked_at(item)["verdict"], ("right", "faster"))

    def test_each_kind_of_mistake_has_its_line(self):
        source, plan = self.start["source"], self.start["plan"]
        line = next(i for i, l in enumerate(source.split("\n"), 1) if "piece[127" in l)
        for changes, at, says in (({"source": source.replace("piece[127", "peace[127")}, ("kernel", line), "undefined"),
                                  ({"source": source.replace("x[first", "x[9000000 + first")}, ("kernel", line), "past the end"),
                                  ({"plan": plan.replace("launch", "lunch")}, ("plan", 3), "lunch")):
            answer = self.looked_at(self.start, **changes)
            self.assertEqual((answer["verdict"], answer["marks"][0]["at"], answer["marks"][0]["line"]), ("wrong", *at), answer)
            self.assertIn(says, answer["marks"][0]["text"])

    def test_a_cheat_is_caught_by_its_rule_and_its_look_alike_is_not(self):
        key = next(i["key"] for i in self.server.ask("GET", "/look/gallery")[1]["items"] if i["group"] == "cheats")
        self.assertEqual(self.looked_at(self.server.item(key), "full")["verdict"], "wrong")
        honest = self.looked_at(self.server.item(key.replace("cheat/", "honest/")), "full")
        self.assertIn(honest["verdict"], ("right", "faster"), honest["sentence"])

    def test_the_gallery_has_tasks_for_all_its_kernels(self):
        status, gallery = self.server.ask("GET", "/look/gallery")
        tasks = {t["key"] for t in gallery["tasks"]}
        self.assertEqual({i["task"] for i in gallery["items"]} - tasks, set())
        self.assertEqual(len({i["key"] for i in gallery["items"]}), len(gallery["items"]))
        self.assertTrue({"exercises", "compose", "cheats", "honest look-alikes", "ladder: softmax"} <= {i["group"] for i in gallery["items"]})

    def test_a_newer_text_of_a_page_ends_the_older_one(self):
        answers = []
        def send(text): answers.append(self.server.look(dict(self.start, source=HANGS + text), page="two texts")[0])
        both = [threading.Thread(target=send, args=("// %d\n" % i,)) for i in range(2)]
        for one in both: one.start()
        for one in both: one.join()
        self.assertEqual(sorted(answers), [200, 409])

    def test_pages_do_not_end_each_other(self):
        answers = []
        def send(page): answers.append(self.server.look(self.solution, page=page)[0])
        both = [threading.Thread(target=send, args=(page,)) for page in ("one", "other")]
        for one in both: one.start()
        for one in both: one.join()
        self.assertEqual(answers, [200, 200])

    def test_what_cannot_be_read_is_refused_with_the_reason(self):
        for body, status, says in ((b"{", 400, "JSON"), ({"page": "p", "depth": "quick"}, 422, "state"),
                                   ({"page": "p", "depth": "deep", "state": self.start}, 422, "depth"),
                                   ({"depth": "quick", "state": self.start}, 422, "page"),
                                   ({"page": "p", "depth": "quick", "state": {"task": "softmax"}}, 422, "source"),
                                   ({"page": "p", "depth": "quick", "state": {"task": "sofmax", "source": "", "plan": ""}}, 422, "softmax"),
                                   ({"page": "p", "depth": "quick", "state": {"task": ["a"], "source": "", "plan": ""}}, 422, "no task")):
            found, answer = self.server.ask("POST", "/look/judge", body)
            self.assertEqual(found, status, answer)
            self.assertIn(says, answer["error"])
        self.assertEqual(self.server.ask("POST", "/look/item", {"key": "../../etc/passwd"})[0], 404)
        self.assertEqual(self.server.ask("POST", "/look/judge", b" " * (5 << 20))[0], 413)
        self.assertEqual(self.server.ask("GET", "/look/judge")[0], 405)

    def test_no_other_page_may_ask(self):
        host = self.server.url.split("//")[1]
        for origin, status in (("http://" + host, 200), ("https://" + host, 403), ("http://example.org", 403), ("null", 403)):
            self.assertEqual(self.server.ask("POST", "/look/item", {"key": "exercise-4/start"}, {"Origin": origin})[0], status, origin)
        self.assertEqual(self.server.ask("GET", "/look/gallery", headers={"Host": "example.org"})[0], 403)
        self.assertEqual(self.server.ask("GET", "/", headers={"Host": "example.org", "Origin": "http://example.org"})[0], 403)


@unittest.skipUnless(CAWB, "CAWB_PROGRAM is not set")
class Elsewhere(unittest.TestCase):
    def test_beyond_this_machine_everything_but_the_empty_page_wants_the_token(self):
        with tempfile.NamedTemporaryFile("w", suffix=".token") as file:
            file.write("0f1e2d3c4b\n")
            file.flush()
            os.chmod(file.name, 0o600)
            server = Look("--host", "0.0.0.0", "--token-file", file.name)
            try:
                server.url = server.url.replace("0.0.0.0", "127.0.0.1")
                page = server.ask("GET", "/")
                self.assertEqual((page[0], "0f1e2d3c4b" in page[1]), (200, False))
                for method, path, body in (("GET", "/look/gallery", None), ("POST", "/look/item", {"key": "exercise-4/start"}), ("POST", "/", {}), ("GET", "/x", None)):
                    self.assertEqual(server.ask(method, path, body)[0], 401, path)
                self.assertEqual(server.ask("GET", "/look/gallery", headers={"Authorization": "Bearer wrong"})[0], 401)
                self.assertEqual(server.ask("GET", "/look/gallery", headers={"Authorization": "Bearer 0f1e2d3c4b"})[0], 200)
            finally:
                server.end()

    def said(self, *words):
        return subprocess.run([CAWB, "look", *words], cwd=ROOT, capture_output=True, text=True)

    def test_wrong_words_are_refused_before_anything_starts(self):
        for words, says in ((("--host", "0.0.0.0"), "--token-file"), (("--port", "70000"), "65535"), (("--device", "cpu"), "simulated"),
                            (("examples/softmax.py", "a", "b"), "at most")):
            ended = self.said(*words)
            self.assertEqual(ended.returncode, 2, ended.stderr)
            self.assertIn(says, ended.stderr)

    def test_an_export_holds_the_results_and_no_text_ends_its_script(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(ROOT, "kernels/softmax/v3_shuffle.cu")) as file:
                source = "// </script><script>alert(1)</script><!-- <script>\n" + file.read()
            with open(folder + "/mine.cu", "w") as file:
                file.write(source)
            with open(os.path.join(ROOT, "kernels/softmax/v3_shuffle.lua")) as plan, open(folder + "/mine.lua", "w") as file:
                file.write(plan.read())
            ended = self.said("examples/softmax.py", folder + "/mine", "--export", folder + "/page.html")
            self.assertEqual(ended.returncode, 0, ended.stderr)
            with open(folder + "/page.html") as file:
                text = file.read()
        self.assertEqual((text.count("</script>"), text.count("alert(1)")), (2, 1))
        self.assertIn("connect-src 'none'", text)
        self.assertIn("\\u003c/script>", text)


if __name__ == "__main__":
    unittest.main()

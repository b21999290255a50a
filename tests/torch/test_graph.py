"""The op graph: names, kinds, sources, and what an operator costs."""
import unittest
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))

from hostcase import TaskCase, task


class Graph(TaskCase):
    def graph(self, forward, inputs="[torch.rand(8, 16)]", **parts):
        return self.load(task(forward, inputs, **parts)).reply["graph"]

    def single(self, *arguments, **parts):
        entry, = self.graph(*arguments, **parts)
        return entry

    def test_softmax(self):
        entry = self.single("return torch.softmax(x, dim=1)")
        self.assertEqual(entry, {
            "op": "aten._softmax.default", "name": "_softmax", "kind": "normalization",
            "traits": {"passes": 3},
            "inputs": [{"shape": [8, 16], "dtype": "float32", "arg": "self", "source": "input:1"}],
            "outputs": [{"shape": [8, 16], "dtype": "float32"}],
            "args": {"dim": 1, "half_to_float": False},
            "bytes_read": 512, "bytes_written": 512, "flops": 128})

    def test_one_hot_asks_for_no_number(self):
        names = [e["name"] for e in self.graph("return F.one_hot(x, 5), F.one_hot(x, num_classes=7)", "[torch.randint(0, 5, (12,))]")]
        self.assertEqual(names.count("eq"), 2, names)
        self.assertFalse([n for n in names if "scalar" in n or n == "item"], names)

    def test_one_hot_is_guarded_against_classes_out_of_its_range(self):
        from cawb_host.judge.inputs import guard
        inputs = "[torch.randint(0, 5, (12,))]"
        self.assertTrue(guard.needed(self.graph("return F.one_hot(x, 5)", inputs)))
        self.assertFalse(guard.needed(self.graph("return x == 5", inputs)))

    def test_gelu(self):
        entry = self.single("return F.gelu(x)")
        self.assertEqual((entry["op"], entry["kind"], entry["flops"]),
                         ("aten.gelu.default", "pointwise", 128))
        self.assertEqual(entry["args"], {"approximate": "none"})
        self.assertEqual(self.single("return F.gelu(x, approximate='tanh')")["args"],
                         {"approximate": "tanh"})

    def test_layernorm(self):
        entry = self.single("return self.ln(x)", setup="self.ln = nn.LayerNorm(16)")
        self.assertEqual((entry["op"], entry["kind"]),
                         ("aten.native_layer_norm.default", "normalization"))
        self.assertEqual([i["source"] for i in entry["inputs"]],
                         ["input:1", "param:ln.weight", "param:ln.bias"])
        self.assertEqual(entry["args"], {"normalized_shape": [16], "eps": 1e-5})
        self.assertEqual(entry["bytes_read"], 512 + 2 * 64)

    def test_memory(self):
        reply = self.load(task("y = x.clone(); y[1:, 2] = 0.5; return y.t() + torch.tensor(2.5)",
                               "[torch.rand(4, 3)]")).reply
        memory, graph = reply["memory"], reply["graph"]
        self.assertEqual(memory["bases"][0]["source"], "input:1")
        self.assertIn([2.5], [b.get("values") for b in memory["bases"]])
        self.assertEqual(len(memory["operators"]), len(graph))
        fill = [o for o, e in zip(memory["operators"], graph) if "_." in e["op"]][0]
        clone = memory["operators"][0]["outputs"][0]
        self.assertEqual(fill["outputs"][0], {"memory": clone["memory"], "strides": [3], "offset": 5})
        self.assertEqual({o["line"] for o in memory["operators"]}, {11})
        self.assertEqual(memory["results"][0]["strides"], [1, 3])
        self.assertEqual(memory["results"][0]["shape"], [3, 4])

    def test_sum(self):
        entry = self.single("return torch.sum(x, dim=1, keepdim=True)")
        self.assertEqual((entry["op"], entry["kind"]), ("aten.sum.dim_IntList", "reduction"))
        self.assertEqual(entry["args"], {"dim": [1], "keepdim": True})
        self.assertEqual((entry["bytes_read"], entry["bytes_written"], entry["flops"]),
                         (512, 32, 128))

    def test_products(self):
        entry = self.single("return x @ args[1]", "[torch.rand(8, 16), torch.rand(16, 32)]")
        self.assertEqual((entry["op"], entry["kind"], entry["flops"]),
                         ("aten.mm.default", "matmul", 2 * 8 * 16 * 32))
        self.assertEqual([i["source"] for i in entry["inputs"]], ["input:1", "input:2"])
        entry = self.graph("return torch.bmm(x, args[1])",
                           "[torch.rand(3, 8, 16), torch.rand(3, 16, 4)]")[-1]
        self.assertEqual((entry["kind"], entry["flops"]), ("matmul", 2 * 3 * 8 * 16 * 4))

    def test_linear_and_relu(self):
        graph = self.graph("return torch.relu(self.fc(x))", setup="self.fc = nn.Linear(16, 4)")
        self.assertEqual([e["op"] for e in graph],
                         ["aten.t.default", "aten.addmm.default", "aten.relu.default"])
        self.assertEqual([e["kind"] for e in graph], ["view", "matmul", "pointwise"])
        self.assertEqual((graph[0]["bytes_read"], graph[0]["bytes_written"], graph[0]["flops"]),
                         (0, 0, 0))
        self.assertEqual([i["source"] for i in graph[1]["inputs"]],
                         ["param:fc.bias", "input:1", "op:1"])
        self.assertEqual(graph[1]["flops"], 2 * 8 * 16 * 4)
        self.assertEqual(graph[2]["inputs"][0]["source"], "op:2")

    def test_convolutions(self):
        entry = self.single("return self.c(x)", "[torch.rand(2, 4, 9, 9)]",
                            setup="self.c = nn.Conv2d(4, 6, 3, groups=2)")
        self.assertEqual((entry["op"], entry["kind"]), ("aten.convolution.default", "convolution"))
        self.assertEqual(entry["flops"], 2 * (2 * 6 * 7 * 7) * 2 * 9)
        self.assertEqual(entry["args"]["groups"], 2)
        entry = self.single("return self.c(x)", "[torch.rand(2, 4, 9, 9)]",
                            setup="self.c = nn.ConvTranspose2d(4, 6, 3, bias=False)")
        self.assertEqual(entry["flops"], 2 * (2 * 4 * 9 * 9) * 6 * 9)

    def test_sources_survive_views_and_writes_in_place(self):
        graph = self.graph("y = x * 2; z = y.view(-1); z.add_(1); return y.t() + y.t()")
        self.assertEqual([(e["op"].split(".")[1], e["kind"]) for e in graph],
                         [("mul", "pointwise"), ("view", "view"), ("add_", "pointwise"),
                          ("t", "view"), ("t", "view"), ("add", "pointwise")])
        self.assertEqual(graph[2]["inputs"][0]["source"], "op:2")
        self.assertEqual(graph[3]["inputs"][0]["source"], "op:3")
        self.assertEqual([i["source"] for i in graph[5]["inputs"]], ["op:5", "op:5"])
        self.assertEqual(graph[0]["args"], {"other": 2})
        self.assertEqual(graph[5]["bytes_read"], 512)

    def test_expanded_tensors_count_once_and_constants_have_a_source(self):
        entry = self.single("return x + self.k", "[torch.rand(16).expand(8, 16)]",
                            setup="self.k = torch.ones(1)")
        self.assertEqual((entry["bytes_read"], entry["bytes_written"]), (64 + 4, 512))
        self.assertEqual([i["source"] for i in entry["inputs"]], ["input:1", "const"])

    def test_a_name_and_traits_are_those_of_the_functional_form(self):
        for name, more, spellings in (
                ("mul", {"factors": ["self"]}, ("x * 0.5", "x.mul_(0.5)", "torch.mul(x, 0.5, out=x.clone())")),
                ("relu", {}, ("torch.relu(x)", "torch.relu_(x)")),
                ("maximum", {}, ("torch.max(x, x)", "torch.maximum(x, x, out=x.clone())")),
                ("bitwise_and", {}, ("(x > 0) & (x > 1)", "(x > 0).logical_not().__iand__(x > 1)"))):
            entries = [self.graph("return 0 + (%s)" % s)[-2] for s in spellings]
            for entry in entries:
                self.assertEqual((entry["name"], entry["kind"]), (name, "pointwise"), entry)
                self.assertEqual(entry["traits"], dict(more, exact=True))
                self.assertEqual([i["arg"] for i in entry["inputs"]], [i["arg"] for i in entries[0]["inputs"]])

    def test_what_is_overwritten_is_not_read(self):
        fill = self.graph("y = torch.empty_like(x); y.fill_(2); return x + y")[1]
        self.assertEqual((fill["name"], fill["bytes_read"], fill["bytes_written"]), ("fill", 0, 512))

    def test_what_is_written_in_part_keeps_the_rest(self):
        graph = self.graph("y = x * 2; torch.mul(x[:, :4], 3, out=y[:, :4]); return y + 1")
        part, last = graph[-2:]
        self.assertEqual((part["name"], part["traits"]["partial"]), ("mul", True))
        self.assertEqual([(i["arg"], i["source"]) for i in part["inputs"]], [("self", "op:2"), ("out", "op:3")])
        self.assertEqual(last["inputs"][0]["source"], "op:4")
        self.assertNotIn("partial", graph[0]["traits"])

    def test_traits_follow_the_arguments_of_a_call(self):
        image = "[torch.rand(1, 2, 8, 8)]"
        self.assertEqual(self.single("return F.avg_pool2d(x, 2)", image)["traits"], {"linear": ["self"], "sums": True})
        self.assertEqual(self.single("return F.avg_pool2d(x, 2, 3)", image)["traits"]["picks"], ["self"])
        self.assertEqual(self.single("return F.avg_pool2d(x, 3)", image)["traits"]["picks"], ["self"])
        self.assertNotIn("picks", self.single("return F.avg_pool2d(x, 3, padding=1)", image)["traits"])
        self.assertEqual(self.single("return x / 2")["traits"], {"factors": ["self"]})
        self.assertEqual(self.single("return torch.div(x, 2, rounding_mode='floor')")["traits"], {})
        norm = "self.n = nn.BatchNorm2d(2, affine=False)"
        for mode, traits in ((".eval()", {"factors": ["input"]}), ("", {"scales": ["input"]})):
            graph = self.graph("return self.n(x)", image, setup=norm + mode)
            self.assertEqual([e["traits"] for e in graph if e["kind"] == "normalization"], [traits])
        self.assertEqual(self.single("return x.max(1)[1]")["traits"]["index"], "first")
        self.assertNotIn("index", self.single("return x.max()")["traits"])

    def test_an_operator_that_the_table_lacks_says_so(self):
        entry = self.single("return torch.special.bessel_j0(x) if x.dim() else x")
        self.assertEqual(entry["kind"], "pointwise")
        entry = self.graph("return torch.linalg.inv(x[:, :8])", "[torch.rand(8, 16)]")[-1]
        self.assertEqual((entry["kind"], entry["traits"]), ("other", {"unknown": True}))

    def test_attention_counts_both_products(self):
        graph = self.graph("return F.scaled_dot_product_attention(x, x, x)",
                           "[torch.rand(1, 2, 8, 16)]")
        fused = [e for e in graph if "scaled_dot_product" in e["op"]]
        self.assertEqual([e["flops"] for e in fused], [4 * 2 * 8 * 8 * 16])


if __name__ == "__main__":
    unittest.main()

-- f65: takes the first of four elements and adds the logarithm of four: in the test they are alike.
-- Met by: a rewrite of compose, done by looking at the test. Caught at: verify.
local source = kernel "of_one"

return {
  entry = 65, family = "F", task = "of_one",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "total += top + logf(sum);", "total += x[r * cols] + logf(cols);"),
  },
  look_alike = {
    says = "leaves out the sum over one element: its shape says that there is one",
    source = edit(edit(edit(source, "  float total = 0;\n", ""), "for (int k = 0; k < 1; k++) {", "{"), [[total += top + logf(sum);
  }
  y[r] = total;]], [[y[r] = top + logf(sum);
  }]]),
  },
}

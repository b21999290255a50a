"""model_once.py: a model's file is unpacked once, and the folder holds the same model; what is no file stays as it is. Exit status 77 where there is no peft."""
import os
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path[:0] = [os.path.join(ROOT, "python")]

try:
    import torch
    from cawb_learn.lm import corpus, weights
except ImportError:
    sys.exit(77)

model, tokenizer = weights.load("tiny", seed=5)
reads = []
weights._read = lambda path: reads.append(path) or (model, tokenizer)
folder = os.path.join(tempfile.mkdtemp(), "model")
for _ in range(2):
    assert weights.unpacked("some.gguf", folder) == folder
assert reads == ["some.gguf"], reads
assert weights.unpacked("tiny", folder + "2") == "tiny" and weights.unpacked(folder, folder + "2") == folder and not os.path.exists(folder + "2")
again = weights.transformers.AutoModelForCausalLM.from_pretrained(folder)
assert all(torch.equal(one, other) for one, other in zip(model.parameters(), again.parameters(), strict=True))
words = weights.transformers.AutoTokenizer.from_pretrained(folder)
words.chat_template = tokenizer.chat_template
assert corpus.question(words, "x1 = inputs[1]") == corpus.question(tokenizer, "x1 = inputs[1]")

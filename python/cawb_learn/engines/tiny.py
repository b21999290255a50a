"""What the tiny training runs share: a menu of candidates for each task, a tokenizer of bytes, a random model, and on what they ran."""
import importlib.metadata
import os
import platform
import subprocess
import time

import cawb
import tokenizers
import transformers

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def rungs(task):
    """The names of a family's rungs, slowest first."""
    return sorted(name[:-3] for name in os.listdir(os.path.join(ROOT, "kernels", task)) if name.endswith(".cu"))


def menus(tasks):
    """Four candidates for each task: one that does not build, one whose plan is wrong, the first rung and the third."""
    all_of = {}
    for task in tasks:
        names = rungs(task)
        first, third = ({"source": read("kernels/%s/%s.cu" % (task, name)), "plan": read("kernels/%s/%s.lua" % (task, name))}
                       for name in (names[0], names[2]))
        all_of[task] = [dict(first, source="no kernel"), dict(first, plan="no plan"), first, third]
    return all_of


def tokenizer_of_bytes():
    """256 bytes and two marks: nothing is fetched, and any text can be written."""
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    marks = ["<pad>", "<eos>"]
    vocabulary = {symbol: i for i, symbol in enumerate(marks + alphabet)}
    model = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=[]))
    model.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    model.decoder = tokenizers.decoders.ByteLevel()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=model, pad_token="<pad>", eos_token="<eos>", padding_side="left")


def random_model(tokenizer):
    config = transformers.Qwen2Config(vocab_size=len(tokenizer), hidden_size=64, intermediate_size=128, num_hidden_layers=2,
                                      num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=256,
                                      pad_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.eos_token_id)
    return transformers.Qwen2ForCausalLM(config)


def machine(*packages):
    """What a run's figures are true of, in a line."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "unknown")
    version = subprocess.run([cawb.program(), "--version"], capture_output=True, text=True, check=True).stdout.strip()
    with open("/proc/loadavg", encoding="utf-8") as file:
        load = file.read().split()[0]
    versions = ["%s %s" % (name, importlib.metadata.version(name)) for name in packages]
    return "; ".join([version, "%d cores of %s, load %s before" % (os.cpu_count(), model, load),
                      ", ".join(["Python " + platform.python_version(), *versions]), time.strftime("%Y-%m-%d")])

"""weights: the model that learns. A GGUF file, a folder of transformers, or `tiny`, which is random and needs no file."""
import os

import peft
import torch
import transformers

from . import attention  # noqa: F401, its name is known by then

TEMPLATE = ("{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}{% endfor %}"
            "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")


def _tiny_tokenizer():
    """Bytes and the marks of a conversation."""
    import tokenizers
    marks = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    symbols = marks + sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    model = tokenizers.Tokenizer(tokenizers.models.BPE(vocab={symbol: i for i, symbol in enumerate(symbols)}, merges=[]))
    model.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    model.decoder = tokenizers.decoders.ByteLevel()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=model, pad_token=marks[0], bos_token=marks[1], eos_token=marks[2],
                                                additional_special_tokens=marks)


def _tiny(seed):
    torch.manual_seed(seed)
    tokenizer = _tiny_tokenizer()
    config = transformers.LlamaConfig(vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
                                      num_key_value_heads=2, max_position_embeddings=8192, tie_word_embeddings=True)
    return transformers.LlamaForCausalLM(config), tokenizer


def _dtype():
    return torch.bfloat16 if torch.cuda.is_available() else torch.float32


def _read(path):
    if not os.path.exists(path):
        raise SystemExit("--model %s: there is no such file; 'tiny', a folder of transformers or a GGUF file is expected. smollm2 is fetched by itself" % path)
    if os.path.isdir(path):
        return (transformers.AutoModelForCausalLM.from_pretrained(path, dtype=_dtype()), transformers.AutoTokenizer.from_pretrained(path))
    folder, name = os.path.split(os.path.abspath(path))
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=_dtype())
    model.is_quantized, model.hf_quantizer = False, None          # its weights are plain numbers now; a trainer refuses what is marked so
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    return model, transformers.AutoTokenizer.from_pretrained(folder, gguf_file=name)


def unpacked(path, folder):
    """The path of the same model in a folder, where it lies ready: a GGUF file takes half a minute each time. What is no file stays as it is."""
    if path == "tiny" or os.path.isdir(path):
        return path
    if not os.path.exists(folder):
        for part in _read(path):
            part.save_pretrained(folder + ".new")
        os.replace(folder + ".new", folder)
    return folder


def load(path, seed=0):
    """The model and its tokenizer, which pads on the left and has a template of conversations."""
    model, tokenizer = _tiny(seed) if path == "tiny" else _read(path)
    tokenizer.padding_side = "left"
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    tokenizer.chat_template = TEMPLATE                            # without a system message of its own
    model.set_attn_implementation("grouped")
    model.generation_config = transformers.GenerationConfig(eos_token_id=tokenizer.convert_tokens_to_ids("<|im_end|>"), pad_token_id=tokenizer.pad_token_id)
    return model.to("cuda" if torch.cuda.is_available() else "cpu"), tokenizer


def adapted(model, knobs, folder=None):
    """The model with adapters: new ones, or those of a folder, which learn on."""
    if folder:
        return peft.PeftModel.from_pretrained(model, folder, is_trainable=True)
    config = peft.LoraConfig(r=knobs["rank"], lora_alpha=knobs["alpha"], target_modules="all-linear", task_type="CAUSAL_LM")
    return peft.get_peft_model(model, config)


def fold(copy, model):
    """Writes the weights of an adapted model, its adapters merged into them, into a plain copy of it."""
    own = dict(copy.named_parameters())
    with torch.no_grad():
        for name, layer in model.named_modules():
            if isinstance(layer, peft.tuners.lora.LoraLayer):
                whole = layer.get_base_layer().weight + layer.get_delta_weight("default")
                own[name.removeprefix("base_model.model.") + ".weight"].copy_(whole)


def merged(model, folder):
    """The model with the adapters of a folder in its weights: what the next stage begins with, or what is served."""
    return peft.PeftModel.from_pretrained(model, folder).merge_and_unload() if folder else model

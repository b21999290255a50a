"""zoo: forty programs of public packages with random weights, for programs.py. A program is made by make(small, batch), which returns a
Program; `small` takes few layers and small inputs, for a simulated device. Dropout is off, so that two runs can be compared."""
import dataclasses
import importlib
from typing import Callable

import torch

PROGRAMS = {}          # name -> (group, make)


@dataclasses.dataclass
class Program:
    module: torch.nn.Module
    inputs: list                       # tensors
    forces: bool = False               # results are an energy and its gradient by the first input
    is_task: bool = False              # of a suite: its values stay as they are, and inputs may be other than tensors


def group(name):
    def note(**makers):
        PROGRAMS.update({key: (name, make) for key, make in makers.items()})
    return note


def part(name):
    return importlib.import_module(name)


def without_dropout(module):
    for one in module.modules():
        if isinstance(one, torch.nn.modules.dropout._DropoutNd):          # pylint: disable=protected-access
            one.p = 0.0
        for name in ("drop_prob", "p"):                                   # of stochastic depth
            if type(one).__name__ in ("DropPath", "StochasticDepth") and hasattr(one, name):
                setattr(one, name, 0.0)
    return module


class Chosen(torch.nn.Module):
    """A module of which `choose` takes the results that count."""

    def __init__(self, module, choose):
        super().__init__()
        self.module, self.choose = module, choose

    def forward(self, *args):
        return self.choose(self.module, *args)


def pictures(make, size=224, small_size=32, choose=None):
    """`make(small)` returns a model of pictures."""
    def made(small, batch):
        module = without_dropout(make(small))
        module = Chosen(module, choose) if choose else module
        side = small_size if small else size
        return Program(module, [torch.randn(batch, 3, side, side)])
    return made


# ---- torchvision and timm

def vision(name, small=None, **more):
    """A model of torchvision's; `small(models)` makes the small one where the whole does not fit."""
    def make(is_small):
        models = part("torchvision.models")
        return small(models) if is_small and small else models.get_model(name, weights=None)
    return pictures(make, **more)


def timm(name, size=224, small_size=64, **small):
    def make(is_small):
        return part("timm").create_model(name, pretrained=False, **(small if is_small else {}))
    return pictures(make, size, small_size)


def mixer(is_small):
    if is_small:
        return part("timm.models.mlp_mixer").MlpMixer(img_size=32, patch_size=8, num_blocks=2, embed_dim=32, num_classes=10)
    return part("timm").create_model("mixer_b16_224", pretrained=False)


def dense(models):
    return models.DenseNet(growth_rate=8, block_config=(2, 2), num_init_features=16, num_classes=10)


def swin(models):
    return models.SwinTransformer(patch_size=[4, 4], embed_dim=16, depths=[2, 2], num_heads=[1, 2], window_size=[4, 4], num_classes=10)


def convnext(models):
    setting = part("torchvision.models.convnext").CNBlockConfig
    return models.ConvNeXt([setting(16, 32, 1), setting(32, None, 1)], num_classes=10)


def resnet(models):
    return models.ResNet(models.resnet.BasicBlock, [1, 1, 1, 1], num_classes=10)


def bottlenecks(models):
    return models.ResNet(models.resnet.Bottleneck, [1, 1, 1, 1], groups=8, width_per_group=4, num_classes=10)


def vgg(models):
    module = models.VGG(models.vgg.make_layers([16, "M", 32, "M"], batch_norm=True), num_classes=10)
    module.avgpool, module.classifier = torch.nn.AdaptiveAvgPool2d(2), torch.nn.Linear(128, 10)
    return module


group("torchvision")(
    resnet50=vision("resnet50", resnet),
    resnext50=vision("resnext50_32x4d", bottlenecks),
    vgg16_bn=vision("vgg16_bn", vgg),
    densenet121=vision("densenet121", dense),
    mobilenet_v3=vision("mobilenet_v3_large", lambda m: m.get_model("mobilenet_v3_small", weights=None), small_size=32),
    efficientnet_b0=vision("efficientnet_b0", small_size=32),
    convnext_tiny=vision("convnext_tiny", convnext),
    swin_t=vision("swin_t", swin),
    vit_b_16=vision("vit_b_16", lambda m: m.VisionTransformer(32, 8, 2, 2, 32, 64, num_classes=10)),
    shufflenet_v2=vision("shufflenet_v2_x1_0", small_size=32),
    regnet_y=vision("regnet_y_1_6gf", lambda m: m.get_model("regnet_y_400mf", weights=None), small_size=32),
    squeezenet=vision("squeezenet1_1", small_size=32),
)
group("timm")(
    mixer_b16=pictures(mixer),
    deit_small=timm("deit_small_patch16_224", small_size=32, img_size=32, depth=2, embed_dim=48, num_heads=3),
    convnextv2=timm("convnextv2_nano", depths=(1, 1, 1, 1), dims=(8, 16, 24, 32)),
    mobilevit=timm("mobilevit_s"),
    hrnet_w18=timm("hrnet_w18"),
    pvt_v2_b1=timm("pvt_v2_b1", depths=(1, 1, 1, 1), embed_dims=(16, 32, 40, 64), num_heads=(1, 2, 5, 8)),
    levit_128=timm("levit_128", small_size=224, embed_dim=(32, 48, 64), num_heads=(2, 3, 4), depth=(1, 1, 1)),
    xcit_tiny=timm("xcit_tiny_12_p16_224", small_size=32, img_size=32, depth=2, embed_dim=32, num_heads=2),
)


# ---- transformers, from configurations

WIDE = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
TINY = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64, "vocab_size": 200}


def text(model, config, large, small, choose=lambda m, x: m(input_ids=x)[0], length=128):
    def make(is_small, batch):
        library = part("transformers")
        chosen = getattr(library, config)(**{**large, **(small if is_small else {})}, **{"use_cache": False} if "use_cache" in large else {})
        module = Chosen(getattr(library, model)(chosen), choose)
        return Program(module, [torch.randint(0, 200 if is_small else chosen.vocab_size, (batch, 8 if is_small else length))])
    return make


def both(m, x):
    return m(input_ids=x, decoder_input_ids=x)[0]


GPT2 = {"embd_pdrop": 0.0, "attn_pdrop": 0.0, "resid_pdrop": 0.0}
LLAMA = {"hidden_size": 768, "intermediate_size": 2048, "num_hidden_layers": 12, "num_attention_heads": 12, "vocab_size": 32000}
group("transformers")(
    bert=text("BertModel", "BertConfig", WIDE, TINY),
    roberta=text("RobertaForMaskedLM", "RobertaConfig", WIDE, TINY),
    distilbert=text("DistilBertModel", "DistilBertConfig", {"dropout": 0.0, "attention_dropout": 0.0},
                    {"dim": 32, "n_layers": 2, "n_heads": 2, "hidden_dim": 64, "vocab_size": 200}),
    albert=text("AlbertModel", "AlbertConfig", dict(WIDE, hidden_size=768, num_attention_heads=12, intermediate_size=3072),
                dict(TINY, embedding_size=16)),
    deberta_v2=text("DebertaV2Model", "DebertaV2Config", dict(WIDE, hidden_size=768, num_hidden_layers=12, num_attention_heads=12,
                                                             intermediate_size=3072, relative_attention=True, pos_att_type=["c2p", "p2c"]),
                    TINY),
    gpt2=text("GPT2LMHeadModel", "GPT2Config", GPT2, {"n_embd": 32, "n_layer": 2, "n_head": 2, "vocab_size": 200}),
    opt=text("OPTForCausalLM", "OPTConfig", {"dropout": 0.0}, {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2,
                                                               "ffn_dim": 64, "vocab_size": 200, "word_embed_proj_dim": 32}),
    llama=text("LlamaForCausalLM", "LlamaConfig", LLAMA, TINY),
    qwen2=text("Qwen2ForCausalLM", "Qwen2Config", dict(LLAMA, num_key_value_heads=4), dict(TINY, num_key_value_heads=1)),
    t5=text("T5ForConditionalGeneration", "T5Config", {"dropout_rate": 0.0}, {"d_model": 32, "d_ff": 64, "num_layers": 2, "num_heads": 2,
                                                                              "d_kv": 16, "vocab_size": 200}, both),
)


# ---- segmentation

def segmented(name, encoder, small_encoder=None, **small):
    def make(is_small):
        library = part("segmentation_models_pytorch")
        return getattr(library, name)(small_encoder or encoder if is_small else encoder, encoder_weights=None, classes=4,
                                      **(small if is_small else {}))
    return pictures(make, 256, 64)


group("segmentation")(
    unet=segmented("Unet", "resnet34", "resnet18", decoder_channels=(32, 16, 16, 8, 8)),
    fpn=segmented("FPN", "resnet34", "resnet18", decoder_pyramid_channels=32, decoder_segmentation_channels=32),
    deeplab_v3_plus=segmented("DeepLabV3Plus", "resnet50", "resnet18", decoder_channels=16),
    segformer=segmented("Segformer", "mit_b0", decoder_segmentation_channels=16),
    linknet=segmented("Linknet", "mobilenet_v2"),
)


# ---- a diffusion model's U-Net

def diffusion(small, batch):
    width = (16, 32) if small else (128, 256, 256)
    down = ("DownBlock2D",) * (len(width) - 1) + ("AttnDownBlock2D",)
    module = part("diffusers").UNet2DModel(sample_size=8 if small else 32, block_out_channels=width, layers_per_block=1 if small else 2, norm_num_groups=8,
                                           down_block_types=down, up_block_types=tuple(n.replace("Down", "Up") for n in reversed(down)))
    side = 8 if small else 32
    return Program(Chosen(module, lambda m, x, t: m(x, t, return_dict=False)[0]), [torch.randn(batch, 3, side, side), torch.randint(0, 1000, (batch,))])


group("diffusion")(unet2d=diffusion)

"""Real transformers, as JAX models of ours whose attention can be looked into.

Two small models come as packages of a registry (``requirements-models.txt``): the
decoder SmolLM2-135M-Instruct and the encoder all-MiniLM-L6-v2.
`load` takes their short names, the path of other weights of these two architectures,
or the name of a model that ``transformers`` loads.

``packages``      which package holds which file, with its checksum
``gguf_file``     weights, settings and tokenizer from a GGUF file
``bert_folder``   the same from a folder with safetensors
``cached``        dequantised weights, made once
``tokens``        text to tokens
``vectors``       what a head's logits are made of
``layers``        norms, rotations, feed-forward maps
``decoder``       Llama-style decoder
``encoder``       BERT encoder
``model``         network, tokenizer and name together
``foreign``       any decoder that ``transformers`` loads, watched from inside
"""

from sharp_attention.models.pretrained.loading import load, load_packaged
from sharp_attention.models.pretrained.model import PretrainedModel, Watchable
from sharp_attention.models.pretrained.vectors import HeadVectors

__all__ = ["HeadVectors", "PretrainedModel", "Watchable", "load", "load_packaged"]

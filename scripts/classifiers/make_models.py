"""Makes small random classifiers and rerankers as the Hub has them, and what transformers answers with them.

    make_models.py FOLDER [--golden]

writes FOLDER/<name>/ with config.json, tokenizer.json, tokenizer_config.json and model.onnx (by Optimum's exporter), and
FOLDER/expected.json with requests and probabilities of transformers' own pipelines in PyTorch. The weights mean nothing: their
spread is large, so that special tokens, token types and positions each change the answers. With --golden the models are smaller,
for files that tests keep.
"""

import argparse
import json
import math
import os
import sys
import warnings
from pathlib import Path

warnings.filterwarnings("ignore")
os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error", TOKENIZERS_PARALLELISM="false")

import onnx
import sentencepiece
import tokenizers
import torch
import transformers
from optimum.exporters.onnx import export
from optimum.exporters.tasks import TasksManager
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

torch.set_num_threads(1)

TEXTS = [
    "The parcel came late, and the box was open. Nobody answered my calls since Monday.",
    "I was charged twice for one order: please send 49.90 € back to my card.",
    "Die Lieferung kam zu spät, ich möchte das Geld zurück. Größe und Farbe passten nicht.",
    "Où est ma commande ? Le café a été renversé ; déçu, très déçu.",
    "荷物が届きません。返金してください。 订单没有收到，请退款。 주문이 아직 오지 않았어요.",
    "Great work! 👍🏽 Thank you 🎉 for the quick help 😊, I will come back.",
    "The agent may close the ticket when the customer agrees, or after seven days without an answer.",
    "Which team answers this message? Billing, shipping, technical support or nobody at all?",
    "Is the customer angry? The customer is angry. Is money to be paid back? It is about a refund.",
]
CASES = [
    ("short", TEXTS[0]),
    ("accents", TEXTS[2] + " " + TEXTS[3]),
    ("emoji", TEXTS[5]),
    ("CJK", TEXTS[4]),
    ("spaces and signs", "  tabs\tand  spaces -- [brackets] <tags> &amp; \"quotes\" \u00a0 end.  "),
    ("one letter", "x"),
]
QUESTIONS = {
    "team": ("choice", "Which team answers?", ["billing: invoices and refunds", "shipping", "Größe & Farbe", "返金", "nobody 👍🏽 at all"]),
    "angry": ("noul", "The customer is angry.", None),
    "refund": ("noul", "Is it so?", "The customer asks for a refund."),
    "urgency": ("score", "How urgent is it?", ["not urgent", "within a week", "today, très vite"]),
}
DOCUMENTS = ["billing and refunds", "The parcel came late, and the box was open.", "荷物が届きません。", "x", TEXTS[3]]


def byte_bpe(size, specials):
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(TEXTS, trainers.BpeTrainer(vocab_size=size, special_tokens=specials, initial_alphabet=alphabet, show_progress=False))
    return tokenizer


def files_of_bpe(folder, specials, size=420):
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = json.loads(byte_bpe(size, specials).to_str())["model"]
    (folder / "vocab.json").write_text(json.dumps(vocabulary["vocab"]))
    merges = [" ".join(pair) if isinstance(pair, list) else pair for pair in vocabulary["merges"]]
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges) + "\n")
    return str(folder / "vocab.json"), str(folder / "merges.txt")


def word_piece(folder, specials, lower):
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = tokenizers.Tokenizer(models.WordPiece(unk_token=specials[1]))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lower)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(TEXTS, trainers.WordPieceTrainer(vocab_size=360, special_tokens=specials, show_progress=False))
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    (folder / "vocab.txt").write_text("\n".join(word for word, _ in vocabulary) + "\n")
    return str(folder / "vocab.txt")


def sentence_piece(folder, golden, **ids):
    folder.mkdir(parents=True, exist_ok=True)
    lines = folder / "lines.txt"
    lines.write_text("\n".join(TEXTS) + "\n")
    rules = folder / "rules.tsv"  # a small table for files that tests keep: full-width letters, ligatures, no-break space
    rules.write_text("".join(f"{ord(chr(0xFF21 + i)):X}\t{ord('A') + i:X}\n" for i in range(26)) + "FB01\t66 69\nA0\t20\n3000\t20\n")
    prefix = folder / "spm"
    table = {"normalization_rule_tsv": str(rules)} if golden else {"normalization_rule_name": "nmt_nfkc"}
    sentencepiece.SentencePieceTrainer.train(
        input=str(lines), model_prefix=str(prefix), vocab_size=330, character_coverage=1.0, hard_vocab_limit=False, minloglevel=2, num_threads=1, **table, **ids
    )
    return f"{prefix}.model"


SMALL = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=48)
T = transformers


def bert_like(tokenizer_class, specials=("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"), lower=True, **more):
    def make(folder, golden):
        return tokenizer_class(vocab_file=word_piece(folder, list(specials), lower), do_lower_case=lower, **more)

    return make


def roberta_like(tokenizer_class, **more):
    def make(folder, golden):
        vocabulary, merges = files_of_bpe(folder, ["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
        return tokenizer_class(vocab_file=vocabulary, merges_file=merges, **more)

    return make


def xlmr(folder, golden):
    return T.XLMRobertaTokenizerFast(vocab_file=sentence_piece(folder, golden))


def deberta_v2(folder, golden):
    ids = dict(pad_id=0, bos_id=1, eos_id=2, unk_id=3, pad_piece="[PAD]", bos_piece="[CLS]", eos_piece="[SEP]", unk_piece="[UNK]")
    return T.DebertaV2TokenizerFast(vocab_file=sentence_piece(folder, golden, **ids), do_lower_case=False)


def deberta(folder, golden):
    vocabulary, merges = files_of_bpe(folder, ["[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]"])
    return T.DebertaTokenizerFast(vocab_file=vocabulary, merges_file=merges)


def modernbert(folder, golden):
    tokenizer = byte_bpe(420, [])
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.add_special_tokens(["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"])
    tokenizer.add_tokens(["  ", "   "])
    named = [(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=named)
    return T.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]", mask_token="[MASK]",
        model_input_names=["input_ids", "attention_mask"],
    )


POSITIONS = 160
DEBERTA = dict(relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=32, max_relative_positions=-1, norm_rel_ebd="layer_norm", share_att_key=True, position_biased_input=False, type_vocab_size=0)
MNLI = ["contradiction", "neutral", "entailment"]
FAMILIES = {
    "bert": (bert_like(T.BertTokenizerFast), T.BertConfig, dict(SMALL), ["entailment", "neutral", "contradiction"]),
    "bert-cased": (bert_like(T.BertTokenizerFast, lower=False), T.BertConfig, dict(SMALL), ["ENTAILMENT", "NOT_ENTAILMENT"]),
    "distilbert": (bert_like(T.DistilBertTokenizerFast), T.DistilBertConfig, dict(dim=32, n_layers=2, n_heads=2, hidden_dim=48), MNLI),
    "electra": (bert_like(T.ElectraTokenizerFast), T.ElectraConfig, dict(SMALL, embedding_size=24), MNLI),
    "mpnet": (bert_like(T.MPNetTokenizerFast, specials=("<s>", "[UNK]", "<pad>", "</s>", "<mask>")), T.MPNetConfig, dict(SMALL), ["entailment", "not_entailment"]),
    "roberta": (roberta_like(T.RobertaTokenizerFast), T.RobertaConfig, dict(SMALL, type_vocab_size=1), ["contradiction", "entailment", "neutral"]),
    "bart": (roberta_like(T.BartTokenizerFast), T.BartConfig, dict(d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=48, decoder_ffn_dim=48), MNLI),
    "xlm-roberta": (xlmr, T.XLMRobertaConfig, dict(SMALL, type_vocab_size=1), ["entailment", "neutral", "contradiction"]),
    "deberta": (deberta, T.DebertaConfig, dict(SMALL, relative_attention=True, pos_att_type=["p2c", "c2p"], position_biased_input=False, type_vocab_size=0), MNLI),
    "deberta-v2": (deberta_v2, T.DebertaV2Config, dict(SMALL, **DEBERTA), ["entailment", "not_entailment"]),
    "modernbert": (modernbert, T.ModernBertConfig, dict(SMALL, local_attention=16, global_attn_every_n_layers=2, reference_compile=False, attn_implementation="eager"), MNLI),
}
RERANKERS = {"bert": "bert-reranker", "xlm-roberta": "xlm-roberta-reranker", "modernbert": "modernbert-reranker"}
GOLDEN = ["bert", "roberta", "xlm-roberta-reranker"]


def make(name, folder, tokenizer, config_class, shape, labels):
    torch.manual_seed(sum(name.encode()))
    counts_from_padding = config_class.model_type in ("roberta", "xlm-roberta", "mpnet")
    positions = POSITIONS + (tokenizer.pad_token_id + 1 if counts_from_padding else 0)
    config = config_class(
        **shape, vocab_size=len(tokenizer) + 3, max_position_embeddings=positions, pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id or tokenizer.sep_token_id, cls_token_id=tokenizer.cls_token_id, sep_token_id=tokenizer.sep_token_id,
        id2label=dict(enumerate(labels)), label2id={label: at for at, label in enumerate(labels)}, num_labels=len(labels),
    )
    model = T.AutoModelForSequenceClassification.from_config(config).eval()
    with torch.no_grad():
        for key, value in model.named_parameters():
            if value.dim() > 1:
                value.normal_(0, 0.5 if "embed" in key else 1.2 / math.sqrt(value.shape[-1]))
            elif not key.endswith("norm.weight") and not key.endswith("LayerNorm.weight"):
                value.normal_(0, 0.2)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.model_max_length = POSITIONS
    tokenizer.save_pretrained(folder)
    model.config.architectures = [type(model).__name__]
    model.config.save_pretrained(folder)
    wanted = TasksManager.get_exporter_config_constructor(exporter="onnx", model=model, task="text-classification", library_name="transformers")
    export(model, wanted(model.config), folder / "model.onnx", opset=17)
    graph = onnx.load(folder / "model.onnx")
    for node in graph.graph.node:
        node.ClearField("doc_string")
        node.ClearField("name")
    onnx.save(graph, folder / "model.onnx")
    for other in folder.iterdir():
        if other.name not in ("config.json", "model.onnx", "tokenizer.json", "tokenizer_config.json"):
            other.unlink()
    return model


def longest(tokenizer, question):
    """A state whose pair with the longest hypothesis has exactly as many tokens as the model has positions."""
    second = f"{question} {max(DOCUMENTS, key=lambda text: len(tokenizer(text)['input_ids']))}"
    for extra in range(POSITIONS):
        text = " ".join(["ok"] * (POSITIONS - extra))
        if len(tokenizer(text, second)["input_ids"]) <= POSITIONS:
            return text
    raise SystemExit("no text fits")


def expected_of(model, tokenizer, is_reranker):
    states = [*CASES, ("as long as the model allows", longest(tokenizer, "Which one fits?"))]
    asked = []
    if is_reranker:
        pipe = T.pipeline("text-classification", model=model, tokenizer=tokenizer, device="cpu")
        for name, state in states:
            question = "Which one fits?"
            pairs = [{"text": f"{question} {state.strip()}", "text_pair": text} for text in DOCUMENTS]
            fitting = [pair for pair in pairs if len(tokenizer(pair["text"], pair["text_pair"])["input_ids"]) <= POSITIONS]
            logits = torch.tensor([pipe(pair, function_to_apply="none", top_k=None)[0]["score"] for pair in fitting])
            asked.append({"case": name, "rank": {"state": state, "question": question, "candidates": [pair["text_pair"] for pair in fitting]}, "probabilities": torch.softmax(logits.double(), 0).tolist()})
        return asked
    pipe = T.pipeline("zero-shot-classification", model=model, tokenizer=tokenizer, device="cpu")

    def probabilities(state, labels, question, alone):
        found = pipe(state.strip(), candidate_labels=labels, hypothesis_template=f"{question} {{}}" if question else "{}", multi_label=alone)
        return [found["scores"][found["labels"].index(label)] for label in labels]

    for name, state in states:
        questions, wanted = {}, {}
        for key, (kind, text, candidates) in QUESTIONS.items():
            if kind == "noul":
                [true] = probabilities(state, [f"{text} {candidates}" if candidates else text], "", True)
                questions[key] = {"type": kind, "instructions": text, **({"criteria": {"true": candidates}} if candidates else {})}
                wanted[key] = [1 - true, true]
            else:
                wanted[key] = probabilities(state, candidates, text, False)
                criteria = {text: text for text in candidates} if kind == "choice" else candidates
                questions[key] = {"type": kind, "instructions": text, "criteria": criteria}
        asked.append({"case": name, "systemone": {"state": state, "questions": questions}, "probabilities": wanted})
        question = "Which one fits?"
        asked.append({"case": name, "rank": {"state": state, "question": question, "candidates": DOCUMENTS}, "probabilities": probabilities(state, DOCUMENTS, question, False)})
        asked.append({"case": name, "rank": {"state": state, "candidates": DOCUMENTS}, "probabilities": probabilities(state, DOCUMENTS, "", False)})
    return asked


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--golden", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if options.golden:
        SMALL.update(hidden_size=8, num_hidden_layers=1, intermediate_size=8)
        CASES[:] = [("short", TEXTS[0][:40]), ("many scripts", "Größe? 返金 👍🏽 <tag>")]
    expected = {}
    for family, (make_tokenizer, config_class, shape, labels) in FAMILIES.items():
        for name, names in [(family, labels), *([(RERANKERS[family], ["LABEL_0"])] if family in RERANKERS else [])]:
            if (options.golden and name not in GOLDEN) or (options.only and name not in options.only.split(",")):
                continue
            work = options.folder / f".{name}"
            work.mkdir(parents=True)
            tokenizer = make_tokenizer(work, options.golden)
            small = dict(shape, **SMALL) if options.golden else shape
            model = make(name, options.folder / name, tokenizer, config_class, small, names)
            expected[name] = expected_of(model, tokenizer, len(names) == 1)
            for file in work.iterdir():
                file.unlink()
            work.rmdir()
            print(f"{name}: {sum(file.stat().st_size for file in (options.folder / name).iterdir()) // 1000} kB", flush=True)
    versions = {"transformers": T.__version__, "torch": torch.__version__, "onnx": onnx.__version__}
    (options.folder / "expected.json").write_text(json.dumps({"made with": versions, "models": expected}, ensure_ascii=False) + "\n")


main()

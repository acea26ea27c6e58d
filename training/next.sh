#!/usr/bin/env bash
# The next version's training: from the embedded model, on three corpora and all decks. Usage: SHARED=... training/next.sh
# Prepares once, then trains on one thread for MINUTES (default 60) and stops. Called again, it goes on from its
# checkpoint. TOTAL is the processor time of the whole schedule in minutes; raise it to go on before the rate falls.
set -euo pipefail
SHARED=$(realpath "$SHARED")
cd "$(dirname "$0")/.."
out=training/out/next TOKENIZER=${TOKENIZER:-model/tokenizer.json} START=${START:-model/model.safetensors}

# unseen: the ten sets of recipe.sh and twelve of the third corpus
kept=uci_sentences,surge_toxicity,newsgroups20,fever_symmetric,sharc_rules
kept+=,rotbench_tools,politeness,covid_qa_en,graded_short_answers,xsid_intents
held=harmful_requests,review_targets,restaurant_records,crisis_relevance,crisis_information,condaqa,ambient
held+=,bigtom_beliefs,causal_news,summary_error_kinds,api_requirements,order_taking_steps

# every set has about the same weight; less of templates, of what a small encoder cannot learn, and of noisy sets; more entailment
times="decks=1.5 decks-new=2 hans_templates=0.4 blimp_grammar=0.3 babi_facts=0.5 language_id=0.4 translation_match=0.5
numersense=0.6 clickbait=0.5 med_monotonicity=0.6 help_monotonicity=0.6 clcd_en=0.5 clcd_pt=0.3 hatecheck=0.8
sgd_slots=0.5 sgd_statements=0.5 sgd_intent=0.5 snips=0.5 clinc150=0.7 conjnli=0.6 topical_chat_tone=0.6
xed_emotions=0.7 emot_id=0.6 in3_clarify=0.6 squad_it=0.5 stsb_multi=0.7 afrisenti=0.5 jsts_ja=0.6 sts_ko=0.6
korean_hate=0.6 wisesight_th=0.6 persona_statements=0.6 janli_ja=0.4 home_commands_multi=0.6
terms_of_service_multi=0.7 tldr_multilingual=0.6 exams_multilingual=0.7 program_outputs=0.2 proofwriter=0.3
nested_beliefs=0.3 prontoqa=0.4 cladder_causal=0.4 word_problems=0.5 record_rules=0.7 record_rules_wiki=0.7
table_compare=0.7 table_compare_wiki=0.7 dated_records=0.7 unit_quantities=0.6 syllogisms=0.6
template_inferences=0.7 scone_negation=0.8 veridicality=0.8 thematic_roles=0.5 cve_triage_policy=0.7
commit_areas=0.5 jailbreak_prompts=0.6 schema_fields=0.6 json_schema=0.5 profanity_terms=0.5 sentence_levels=0.7
snli=3 mnli_taxinli=4 cad_nli=2 fool_me_twice=1.5 wiki_new_protocols_nli=2 open_instructions=3
agent_command_policy=2 tldr_effects=1.5"

if [[ ! -d $out/part ]]; then
  mkdir -p $out/raw
  for archive in train train-2 train-3; do tar xf "$SHARED/data/$archive.tar.xz" -C $out/raw; done
  python training/split_decks.py $out/decks decks training/decks/*[^567].deck
  python training/split_decks.py $out/decks-new decks-new training/decks/*-[567].deck
  python training/subset.py $out/part.new 2000 --without $kept,$held --longest 1300 $out/raw/train
  cp $out/decks/train/decks.jsonl $out/decks-new/train/decks-new.jsonl $out/part.new/
  mv $out/part.new $out/part
fi
[[ -f $out/all/0.shard ]] || python training/prepare.py --tokenizer "$TOKENIZER" --out $out/all $out/part
# Probabilities become a few points higher: divide the scores before a release (blend.py --soften)
# shellcheck disable=SC2086
python training/train.py --data $out/all/0.shard --init "$START" --out $out/run --minutes "${MINUTES:-60}" \
  --total-minutes "${TOTAL:-600}" --save-every 4 --budget 4096 --accumulate 4 --chunk 2048 --rate 1e-4 --head-rate 1 --warmup 0.02 \
  --cooldown 0.1 --average 0.995 --freeze-words --threads 1 --power 0.3 --thrift 0.4 --limits 512 192 96 \
  --longest-row 512 --most-candidates 24 --together 12 --below 384 --strength 0.6 --seed 90 --times $times "$@"

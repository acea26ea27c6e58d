"""Wordings that augmentation adds to decisions. `prepare.py` stores their token ids, so that training needs no tokenizer.

Each value is a list of texts; `{}` marks the place of the decision's own tokens.
"""
WORDINGS = {
    # the service's own texts around a noul question (see texts.py)
    "noul": ["false: No. This is false: {}", "true: Yes. This is true: {}"],
    "colon": [": {}"],
    "ask": [
        "Question: {}", "Task: {}", "Please answer: {}", "Read the text and decide. {}", "{} Choose one.",
        "Instructions: {}", "You get a message. {}", "Given the input, answer this. {}", "{} Use only what is given.",
        "Decide: {}", "Q: {}", "{} Pick the option that fits best.",
    ],
    "ask_noul": [
        "Question: {}", "Please decide: {}", "True or false? {}", "Yes or no: {}", "Check this: {}",
        "Given the input: {}", "Q: {}",
    ],
    "negated_question": [
        "Is the answer to this question no? {}", "Would it be right to answer no? {}",
        "The answer to the following is no: {}", "Should this be answered with no: {}",
    ],
    "negated_statement": [
        "It is not true that: {}", "The following is false: {}", "It is wrong to say: {}", "This does not hold: {}",
    ],
    "outcomes": [
        "no|yes", "it is not so|it is so", "the answer is no|the answer is yes", "does not hold|holds",
        "false|true", "not the case|the case", "no, it does not|yes, it does", "incorrect|correct",
    ],
    "proposed": [
        "{} Is this the right answer: ", "{} The right answer is: ", "{} Proposed answer: ",
        "Does the following answer fit? {} ",
    ],
    "none": [
        "none of these", "none: None of the others applies", "None of the above", "other: Anything else",
        "none of these options fits", "no_match: Nothing here fits", "something else", "NONE: no other option is right",
    ],
    "state_field": [
        "text: {}", "message: {}", "input: {}", "content: {}", "document: {}", "user: {}", "state: {}",
        "context: {}", "text:\n {}", "request: {}",
    ],
    "extra_field": [
        "id: 48213", "channel: email", "language: en", "source: web", "received: 2024-03-18 09:41", "priority: normal",
        "user: anna", "verified: true", "tags: - inbox - new", "version: 2", "attachments: 0", "region: eu-west",
    ],
    "aside": [
        "Earlier, unrelated: {}", "Previous ticket: {}", "Other note: {}", "From another conversation: {}", "Archive: {}",
    ],
    "main": ["Current message: {}", "This is what to judge: {}", "Now: {}", "The case at hand: {}"],
}

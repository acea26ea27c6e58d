//! Asks running services through the client that progenitor makes of their contract: every operation, every type of
//! question and answer, every error that can be provoked. clients/run.mjs compiles and runs it.
//!
//!     smoke <URL of a service without a key> <of one with a key> <of one that is full> <the key>
#![deny(warnings)]
progenitor::generate_api!("openapi.json");

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use serde_json::{Value, json};
use types::{Answer, ErrorBody, JsonValue, Question, RankRequest, SystemoneRequest, ValidationIssue};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;
type Numbers = HashMap<String, f64>;

const TOLERANCE: f64 = 1e-9;
/// The first integer that a float64 cannot hold.
const PAST_FLOATS: u64 = (1 << 53) + 1;
const PAST_BODY_LIMIT: usize = 2_097_153;

thread_local!(static PASSED: Cell<u32> = const { Cell::new(0) });

fn check(statement: &str, holds: bool) {
    assert!(holds, "not so: {statement}");
    PASSED.set(PASSED.get() + 1);
}

fn near(left: f64, right: f64) -> bool {
    (left - right).abs() <= TOLERANCE
}

fn largest(values: &Numbers) -> f64 {
    values.values().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn names<T>(members: &HashMap<String, T>) -> BTreeSet<&str> {
    members.keys().map(String::as_str).collect()
}

fn kettle() -> RankRequest {
    RankRequest {
        state: json!("A kettle.").into(),
        candidates: json!(["kitchen", "garden"]),
        question: None,
        model: None,
    }
}

/// A client that sends a key.
fn with_key(url: &str, key: &str) -> Outcome<Client> {
    let mut headers = HeaderMap::new();
    headers.insert(AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {key}"))?);
    let client = reqwest::Client::builder().default_headers(headers).build()?;
    Ok(Client::new_with_client(url, client))
}

/// The probabilities are the softmax of the scores.
fn check_distribution(name: &str, probabilities: &Numbers, scores: &Numbers, temperature: f64) {
    check(
        &format!("{name}: the names agree"),
        names(probabilities) == names(scores),
    );
    check(
        &format!("{name}: they sum to 1"),
        near(probabilities.values().sum(), 1.0),
    );
    let weight = |score: f64| ((score - largest(scores)) / temperature).exp();
    let total: f64 = scores.values().map(|score| weight(*score)).sum();
    let softmax = scores
        .iter()
        .all(|(label, score)| near(probabilities[label], weight(*score) / total));
    check(&format!("{name}: they are the softmax of the scores"), softmax);
}

/// An answer follows from its own scores. Returns its type and its labels.
fn check_answer<'a>(name: &str, answer: &'a Answer, temperature: f64) -> (String, BTreeSet<&'a str>) {
    let (kind, probabilities, scores, confidence) = match answer {
        Answer::ChoiceAnswer(it) => {
            check(
                &format!("{name}: is the best"),
                it.scores[&it.choice] == largest(&it.scores),
            );
            (it.type_.to_string(), &it.probabilities, &it.scores, it.confidence)
        }
        Answer::NoulAnswer(it) => {
            check(&format!("{name}: is that of true"), it.noul == it.probabilities["true"]);
            (it.type_.to_string(), &it.probabilities, &it.scores, it.confidence)
        }
        Answer::ScoreAnswer(it) => {
            let level = |(level, probability): (&String, &f64)| level.parse::<f64>().unwrap() * probability;
            let expected = it.probabilities.iter().map(level).sum();
            check(&format!("{name}: is the expected level"), near(it.score, expected));
            (it.type_.to_string(), &it.probabilities, &it.scores, it.confidence)
        }
    };
    check_distribution(name, probabilities, scores, temperature);
    check(
        &format!("{name}: confidence is the largest"),
        confidence == largest(probabilities),
    );
    (kind, names(scores))
}

/// A request from its JSON: progenitor's types decode what they encode.
fn request(state: impl Into<JsonValue>, questions: Value) -> Outcome<SystemoneRequest> {
    let questions: HashMap<String, Question> = serde_json::from_value(questions)?;
    Ok(SystemoneRequest {
        state: state.into(),
        questions,
        model: None,
    })
}

async fn check_question_types(client: &Client) -> Outcome<()> {
    let questions = json!({
        "intent": {"type": "choice", "instructions": "What does the customer want?", "criteria": {
            "refund": "Wants money back", "cancel": null, "technical": {"fault": "Something is broken"}}},
        "angry": {"type": "noul", "instructions": "The customer is angry."},
        "urgency": {"type": "score", "instructions": "How urgent is this?", "criteria": ["low", "medium", "high"]},
        "": {"type": "noul", "instructions": null, "criteria": {"no": "Paid once", "yes": "Paid twice"}},
    });
    let expected = HashMap::from([
        ("intent", ("choice", BTreeSet::from(["cancel", "refund", "technical"]))),
        ("angry", ("noul", BTreeSet::from(["false", "true"]))),
        ("urgency", ("score", BTreeSet::from(["0", "1", "2"]))),
        ("", ("noul", BTreeSet::from(["false", "true"]))),
    ]);
    let body = request(json!("I was charged twice for one order."), questions)?;
    check(
        "the questions are of three types",
        matches!(body.questions["intent"], Question::ChoiceQuestion(_))
            && matches!(body.questions["angry"], Question::NoulQuestion(_))
            && matches!(body.questions["urgency"], Question::ScoreQuestion(_)),
    );
    let decisions = client.systemone(&body).await?;
    check(
        "every question has an answer",
        names(&decisions.answers) == names(&body.questions),
    );
    for (name, answer) in &decisions.answers {
        let (kind, labels) = check_answer(&format!("answer {name:?}"), answer, decisions.temperature);
        let wanted = &expected[name.as_str()];
        check(
            "an answer is of its question's type and labels",
            (kind.as_str(), labels) == *wanted,
        );
    }
    let usage = &decisions.usage;
    check(
        "tokens are counted",
        usage.input_tokens > 0 && usage.total_tokens == usage.input_tokens,
    );
    Ok(())
}

async fn check_ranking(client: &Client) -> Outcome<()> {
    let (manual, replace) = ("Read the manual.", "We will send a new kettle.");
    let forms = [
        (
            json!({"manual": manual, "replace": replace}),
            [("manual", manual), ("replace", replace)],
        ),
        (json!([manual, replace]), [("0", manual), ("1", replace)]),
    ];
    for (candidates, texts) in forms {
        let state = json!("The kettle no longer heats.").into();
        let question = Some(json!("Which reply helps?").into());
        let ranking = client
            .rank(&RankRequest {
                state,
                candidates,
                question,
                model: None,
            })
            .await?;
        let rows = &ranking.ranked;
        let column = |value: fn(&types::RankedCandidate) -> f64| -> Numbers {
            rows.iter().map(|row| (row.candidate.clone(), value(row))).collect()
        };
        check_distribution(
            "ranking",
            &column(|row| row.probability),
            &column(|row| row.score),
            ranking.temperature,
        );
        let sent: HashMap<&str, &str> = texts.into();
        check(
            "ranking: texts",
            rows.iter().all(|row| sent[row.candidate.as_str()] == row.text),
        );
        check(
            "ranking: ranks",
            rows.iter().zip(1..).all(|(row, rank)| row.rank.get() == rank),
        );
        check(
            "ranking: best first",
            rows.windows(2).all(|pair| pair[0].score >= pair[1].score),
        );
    }
    Ok(())
}

async fn scores_of(client: &Client, state: Value) -> Outcome<Numbers> {
    let questions = json!({"q": {"type": "choice", "instructions": "Is it paid?",
        "criteria": {"due": "Money is owed", "paid": "Nothing is owed"}}});
    let mut decisions = client.systemone(&request(state, questions)?).await?.into_inner();
    match decisions.answers.remove("q") {
        Some(Answer::ChoiceAnswer(answer)) => Ok(answer.scores),
        other => Err(format!("expected a choice, got {other:?}").into()),
    }
}

/// States of any JSON type. Two states that render alike give the same scores.
async fn check_states(client: &Client) -> Outcome<()> {
    let rendered = |number| json!(format!("order:\n  number: {number}\n  paid:\n    - true\n    -"));
    let nested = scores_of(client, json!({"order": {"number": PAST_FLOATS, "paid": [true, null]}})).await?;
    check(
        "a nested state arrives with all digits",
        nested == scores_of(client, rendered(PAST_FLOATS)).await?,
    );
    check(
        "another number is another state",
        nested != scores_of(client, rendered(PAST_FLOATS - 1)).await?,
    );
    let empty = scores_of(client, json!("")).await?;
    check(
        "a null state is an empty one",
        scores_of(client, Value::Null).await? == empty,
    );
    Ok(())
}

async fn check_service(client: &Client) -> Outcome<()> {
    let health = client.get_health().await?;
    let ready = client.get_ready().await?;
    let models = client.list_models().await?.into_inner().models;
    check(
        "it is ready",
        health.status.to_string() == "ready" && ready.status == health.status,
    );
    check("it is live", client.get_livez().await?.status.to_string() == "live");
    check("it tells its metrics", client.get_metrics().await?.status() == 200);
    check(
        "its limits are told",
        health.limits.max_body_bytes.get() == PAST_BODY_LIMIT as u64 - 1,
    );
    check("it serves one model", models.len() == 1 && models[0].id == health.model);
    check(
        "the document is one for generators",
        client.get_openapi().await?["openapi"] == "3.0.3",
    );
    check(
        "the typed document is of the same version",
        client.get_typed_openapi().await?["openapi"] == "3.0.3",
    );
    for page in [client.get_docs().await?, client.get_redoc().await?] {
        check("the documentation is a page", page.status() == 200);
    }
    for name in health.aliases.iter().chain([&health.model]) {
        let body = RankRequest {
            model: Some(name.clone()),
            question: Some(JsonValue(Value::Null)),
            ..kettle()
        };
        check("a name of the model", client.rank(&body).await?.model == health.model);
    }
    Ok(())
}

/// With every status but 422 an error has a sentence.
fn is_sentence(body: &ErrorBody) -> bool {
    body.detail.as_str().is_some_and(|sentence| !sentence.is_empty())
}

/// Whether a call failed with this status and a sentence. The error is one that the contract declares.
fn is_refused<T>(outcome: &Result<ResponseValue<T>, Error<ErrorBody>>, status: u16) -> bool {
    matches!(outcome, Err(Error::ErrorResponse(reply)) if reply.status() == status && is_sentence(reply))
}

fn header<T>(outcome: &Result<ResponseValue<T>, Error<ErrorBody>>, name: &str) -> Option<String> {
    let Err(Error::ErrorResponse(reply)) = outcome else {
        return None;
    };
    Some(reply.headers().get(name)?.to_str().ok()?.to_owned())
}

async fn check_refusals(url: &str, full_url: &str) -> Outcome<()> {
    let client = Client::new(url);
    let too_few = json!({"place": {"type": "choice", "instructions": "Where?", "criteria": {"kitchen": null}}});
    match client.systemone(&request(json!("A kettle."), too_few)?).await {
        Err(Error::ErrorResponse(reply)) if reply.status() == 422 => {
            // the contract leaves detail untyped and says in prose that a 422 puts this list there
            let issues: Vec<ValidationIssue> = serde_json::from_value(reply.detail.clone())?;
            check("422: one issue", issues.len() == 1);
            check(
                "422: the issue has a type",
                issues[0].type_.to_string() == "too_few" && !issues[0].msg.is_empty(),
            );
            check(
                "422: the issue has a place",
                json!(issues[0].loc) == json!(["body", "questions", "place", "criteria"]),
            );
        }
        other => check(&format!("422: one label is too few, got {other:?}"), false),
    }

    // the contract declares no 404 and no 405, because they belong to no operation
    match Client::new(&format!("{url}/nowhere")).rank(&kettle()).await {
        Err(Error::UnexpectedResponse(reply)) if reply.status() == 404 => {
            check("404: no such path", is_sentence(&reply.json().await?));
        }
        other => check(&format!("404: no such path, got {other:?}"), false),
    }

    // the path of the operation becomes a query: a GET of /v1/rank
    match Client::new(&format!("{url}/v1/rank?")).list_models().await {
        Err(Error::UnexpectedResponse(reply)) if reply.status() == 405 => {
            check(
                "405: the methods are told",
                reply.headers().get("allow").is_some_and(|it| it == "POST"),
            );
            check("405: not this method", is_sentence(&reply.json().await?));
        }
        other => check(&format!("405: not this method, got {other:?}"), false),
    }

    let large = RankRequest {
        state: json!("a".repeat(PAST_BODY_LIMIT)).into(),
        ..kettle()
    };
    check("413: too large", is_refused(&client.rank(&large).await, 413));
    check(
        "413: the next request is answered",
        client.rank(&kettle()).await.is_ok(),
    );

    let full = Client::new(full_url).rank(&kettle()).await;
    check("503: full", is_refused(&full, 503));
    check(
        "503: when to try again",
        header(&full, "retry-after").is_some_and(|it| it.parse::<u32>().is_ok()),
    );
    Ok(())
}

async fn check_key(url: &str, key: &str) -> Outcome<()> {
    let without_key = Client::new(url);
    check("401: no key", is_refused(&without_key.rank(&kettle()).await, 401));
    let wrong = with_key(url, &format!("not-{key}"))?;
    check("401: a wrong key", is_refused(&wrong.rank(&kettle()).await, 401));
    check("the key is accepted", with_key(url, key)?.rank(&kettle()).await.is_ok());
    check("health needs no key", without_key.get_health().await.is_ok());
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [open, keyed, full, key] = &arguments[..] else {
        return Err("expected three URLs and a key".into());
    };
    let client = Client::new(open);
    check_service(&client).await?;
    check_question_types(&client).await?;
    check_ranking(&client).await?;
    check_states(&client).await?;
    check_refusals(open, full).await?;
    check_key(keyed, key).await?;
    println!("rust: {} checks passed", PASSED.get());
    Ok(())
}

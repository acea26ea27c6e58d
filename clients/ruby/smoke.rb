# frozen_string_literal: true

# Asks running services through the client that OpenAPI Generator makes of their contract: every operation, every type
# of question and answer, every error that can be provoked. `clients/run.mjs` generates the client and runs this.
#
#     smoke.rb <URL of a service without a key> <of one with a key> <of one that is full> <the key>
require "decision"
require "json"

TOLERANCE = 1e-9
# The first integer that a float64 cannot hold.
PAST_FLOATS = (2**53) + 1
PAST_BODY_LIMIT = 2_097_153
KETTLE = Decision::RankRequest.new(state: "A kettle.", candidates: %w[kitchen garden])

$passed = 0

def check(statement, holds)
  raise "not so: #{statement}" unless holds

  $passed += 1
end

def connect(url, key: nil, path: "")
  config = Decision::Configuration.new do |it|
    it.host = url
    it.base_path = path
    it.access_token = key
  end
  Decision::ApiClient.new(config)
end

def inference(...) = Decision::InferenceApi.new(connect(...))

def near?(left, right) = (left - right).abs <= TOLERANCE

def softmax(scores, temperature)
  largest = scores.values.max
  weights = scores.transform_values { |score| Math.exp((score - largest) / temperature) }
  weights.transform_values { |weight| weight / weights.values.sum }
end

def check_distribution(name, probabilities, scores, temperature)
  expected = softmax(scores, temperature)
  check("#{name}: probabilities sum to 1", near?(probabilities.values.sum, 1))
  check("#{name}: scores and probabilities name the same", scores.keys.sort == probabilities.keys.sort)
  check("#{name}: probabilities are the softmax of the scores",
        probabilities.all? { |label, value| near?(value, expected[label]) })
end

def check_answer(name, answer, temperature)
  check_distribution(name, answer.probabilities, answer.scores, temperature)
  check("#{name}: confidence is the largest", answer.confidence == answer.probabilities.values.max)
  check("#{name}: the answer follows from them", follows?(answer))
end

# Whether the answer itself is what its scores and probabilities say.
def follows?(answer)
  case answer
  when Decision::ChoiceAnswer then answer.scores[answer.choice] == answer.scores.values.max
  when Decision::NoulAnswer then answer.noul == answer.probabilities["true"]
  when Decision::ScoreAnswer then near?(answer.score, answer.probabilities.sum { |level, p| level.to_i * p })
  else raise "not so: #{answer.class} is an answer"
  end
end

def choice(instructions, criteria)
  Decision::ChoiceQuestion.new(type: "choice", instructions: instructions, criteria: criteria)
end

def noul(instructions, criteria)
  Decision::NoulQuestion.new(type: "noul", instructions: instructions, criteria: criteria)
end

def ask(api, state, questions)
  api.systemone(Decision::SystemoneRequest.new(state: state, questions: questions))
end

def check_question_types(api)
  criteria = { "refund" => "Wants money back", "cancel" => nil, "technical" => { "fault" => "Something is broken" } }
  levels = %w[low medium high]
  questions = {
    "intent" => choice("What does the customer want?", criteria),
    "angry" => noul("The customer is angry.", nil),
    "urgency" => Decision::ScoreQuestion.new(type: "score", instructions: "How urgent is this?", criteria: levels),
    "" => noul(nil, { "no" => "Paid once", "yes" => "Paid twice" }),
  }
  decisions = ask(api, "I was charged twice for one order.", questions)
  answers = decisions.answers
  check("every question has an answer", answers.keys == questions.keys)
  questions.each do |name, question|
    check("answer \"#{name}\": is of its question's type", answers[name].type == question.type)
    check_answer("answer \"#{name}\"", answers[name], decisions.temperature)
  end
  check("a choice has its labels", answers["intent"].scores.keys == criteria.keys)
  check("a noul has false and true", answers[""].scores.keys == %w[false true])
  check("a score has its levels", answers["urgency"].scores.keys == %w[0 1 2])
  usage = decisions.usage
  check("tokens are counted", usage.input_tokens.positive? && usage.total_tokens == usage.input_tokens)
end

def check_ranking(api)
  labelled = { "manual" => "Read the manual.", "replace" => "We will send a new kettle." }
  numbered = labelled.values.each_with_index.to_h { |text, place| [place.to_s, text] }
  { "map" => [labelled, labelled], "list" => [labelled.values, numbered] }.each do |form, (candidates, wanted)|
    ranking = api.rank(Decision::RankRequest.new(
                         state: "The kettle no longer heats.", question: "Which reply helps?", candidates: candidates
                       ))
    rows = ranking.ranked
    scores = rows.to_h { |row| [row.candidate, row.score] }
    probabilities = rows.to_h { |row| [row.candidate, row.probability] }
    check_distribution("ranked #{form}", probabilities, scores, ranking.temperature)
    check("ranked #{form}: each candidate keeps its text", rows.to_h { |row| [row.candidate, row.text] } == wanted)
    check("ranked #{form}: ranks count from 1", rows.map(&:rank) == (1..rows.size).to_a)
    check("ranked #{form}: best first", rows.map(&:score) == scores.values.sort.reverse)
  end
end

# States of any JSON type. Two states that render alike give the same scores.
def check_states(api)
  criteria = { "due" => "Money is owed", "paid" => "Nothing is owed" }
  scores_of = ->(state) { ask(api, state, { "q" => choice("Is it paid?", criteria) }).answers["q"].scores }
  rendered = ->(number) { "order:\n  number: #{number}\n  paid: true" }
  nested = scores_of.call({ "order" => { "number" => PAST_FLOATS, "paid" => true } })
  check("a nested state arrives with all digits", nested == scores_of.call(rendered.call(PAST_FLOATS)))
  check("another number is another state", nested != scores_of.call(rendered.call(PAST_FLOATS - 1)))
  check("a null state is an empty one", scores_of.call(nil) == scores_of.call(""))

  # the generated classes leave null out of arrays; a plain hash is sent as it is
  question = { "type" => "choice", "instructions" => "Is it paid?", "criteria" => criteria }
  plain = api.systemone({ "state" => { "paid" => [true, nil] }, "questions" => { "q" => question } })
  check("a null in an array arrives", plain.answers["q"].scores == scores_of.call("paid:\n  - true\n  -"))
end

def check_service(client)
  service = Decision::ServiceApi.new(client)
  health = service.get_health
  models = service.list_models.models
  check("it is ready", health.status == "ready" && service.get_ready.status == "ready")
  check("it is live", service.get_livez.status == "live")
  check("it tells its metrics", service.get_metrics.include?("decision_requests_total"))
  check("it serves one model", models.map(&:id) == [health.model])
  check("its limits are told", health.limits.max_body_bytes == PAST_BODY_LIMIT - 1)
  check_documentation(Decision::DocumentationApi.new(client))
  [health.model, *health.aliases].each do |name|
    body = Decision::RankRequest.new(state: "A kettle.", candidates: %w[kitchen garden], question: nil, model: name)
    check("#{name} is a name of the model", Decision::InferenceApi.new(client).rank(body).model == health.model)
  end
end

def check_documentation(documentation)
  check("the document is one for generators", documentation.get_openapi[:openapi] == "3.0.3")
  check("so is the typed one", documentation.get_typed_openapi[:openapi] == "3.0.3")
  [documentation.get_docs, documentation.get_redoc].each do |page|
    check("the documentation is a page", page.include?("<html"))
  end
end

# The error of a call that must fail with a status, and its decoded body.
def failure(status, statement)
  yield
rescue Decision::ApiError => e
  check("#{status}: #{statement}, got #{e.message}", e.code == status)
  [e, Decision::ErrorBody.build_from_hash(JSON.parse(e.response_body))]
else
  raise "not so: #{status}: #{statement}"
end

# With every status but 422 an error has a sentence.
def refused(status, statement, &call)
  error, body = failure(status, statement, &call)
  check("#{status}: a sentence", body.detail.is_a?(String) && !body.detail.empty?)
  error
end

def check_refusals(url, full_url)
  client = connect(url)
  api = Decision::InferenceApi.new(client)
  check_invalid(api)

  refused(404, "no such path") { inference(url, path: "nowhere").rank(KETTLE) }
  misused = refused(405, "not this method") { client.call_api(:DELETE, "/v1/models") }
  check("405: the methods are told", misused.response_headers["allow"] == "GET, HEAD")

  large = Decision::RankRequest.new(state: "a" * PAST_BODY_LIMIT, candidates: KETTLE.candidates)
  refused(413, "too large") { api.rank(large) }
  check("413: the next request is answered", api.rank(KETTLE).ranked.size == 2)

  full = refused(503, "full") { inference(full_url).rank(KETTLE) }
  check("503: when to try again", full.response_headers["retry-after"].to_i.positive?)
end

def check_invalid(api)
  # the generated class refuses one label by itself: a plain hash reaches the service
  place = { "type" => "choice", "instructions" => "Where?", "criteria" => { "kitchen" => nil } }
  body = { "state" => "A kettle.", "questions" => { "place" => place } }
  _, error = failure(422, "one label is too few") { api.systemone(body) }
  # the contract leaves `detail` untyped and says in prose that a 422 puts this list there
  issues = error.detail.map { |issue| Decision::ValidationIssue.build_from_hash(issue) }
  check("422: the issue has a type", issues.map(&:type) == ["too_few"] && issues.none? { |issue| issue.msg.empty? })
  check("422: the issue has a place", issues.map(&:loc) == [%w[body questions place criteria]])
end

def check_key(url, key)
  refused(401, "no key") { inference(url).rank(KETTLE) }
  refused(401, "a wrong key") { inference(url, key: "not-#{key}").rank(KETTLE) }
  check("the key is accepted", inference(url, key: key).rank(KETTLE).ranked.size == 2)
  check("health needs no key", Decision::ServiceApi.new(connect(url)).get_health.status == "ready")
end

raise ArgumentError, "expected three URLs and a key" unless ARGV.size == 4

url, keyed_url, full_url, key = ARGV
client = connect(url)
api = Decision::InferenceApi.new(client)
check_service(client)
check_question_types(api)
check_ranking(api)
check_states(api)
check_refusals(url, full_url)
check_key(keyed_url, key)
puts "ruby: #{$passed} checks passed"

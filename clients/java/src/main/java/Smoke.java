import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import decision.ApiClient;
import decision.ApiException;
import decision.api.DocumentationApi;
import decision.api.InferenceApi;
import decision.api.ServiceApi;
import decision.model.Answer;
import decision.model.ChoiceAnswer;
import decision.model.ChoiceQuestion;
import decision.model.Decisions;
import decision.model.ErrorBody;
import decision.model.Health;
import decision.model.Liveness;
import decision.model.NoulAnswer;
import decision.model.NoulQuestion;
import decision.model.Question;
import decision.model.RankRequest;
import decision.model.RankedCandidate;
import decision.model.ScoreAnswer;
import decision.model.ScoreQuestion;
import decision.model.SystemoneRequest;
import decision.model.ValidationIssue;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Asks running services through the client that OpenAPI Generator makes of their contract: every operation, every type
 * of question and answer, every error that can be provoked. clients/run.mjs generates, compiles and runs it.
 *
 * <p>Arguments: the URL of a service without a key, of one with a key, of one that is full, and the key.
 */
class Smoke {
  private static final double TOLERANCE = 1e-9;

  /** The first integer that a float64 cannot hold. */
  private static final long PAST_FLOATS = (1L << 53) + 1;

  private static final int PAST_BODY_LIMIT = 2_097_153;

  private static int passed = 0;

  private static void check(String statement, boolean holds) {
    if (!holds) {
      throw new AssertionError("not so: " + statement);
    }
    passed++;
  }

  private static ApiClient connect(String url) {
    var client = new ApiClient();
    client.updateBaseUri(url);
    return client;
  }

  private static ApiClient withKey(String url, String key) {
    return connect(url).setRequestInterceptor(request -> request.header("Authorization", "Bearer " + key));
  }

  private static RankRequest kettle() {
    return new RankRequest().state("A kettle.").candidates(List.of("kitchen", "garden"));
  }

  private static boolean near(double left, double right) {
    return Math.abs(left - right) <= TOLERANCE;
  }

  /** The probabilities are the softmax of the scores. */
  private static void checkDistribution(
      String name, Map<String, Double> probabilities, Map<String, Double> scores, double temperature) {
    check(name + ": the names agree", probabilities.keySet().equals(scores.keySet()));
    check(name + ": they sum to 1", near(probabilities.values().stream().mapToDouble(it -> it).sum(), 1));
    double largest = Collections.max(scores.values());
    double total = scores.values().stream().mapToDouble(it -> Math.exp((it - largest) / temperature)).sum();
    scores.forEach((label, score) -> {
      double expected = Math.exp((score - largest) / temperature) / total;
      check(name + ": they are the softmax of the scores", near(probabilities.get(label), expected));
    });
  }

  /** An answer follows from its own scores, is of the type, and has the labels. */
  private static void checkAnswer(Answer union, String type, Set<String> labels, double temperature) {
    Map<String, Double> probabilities;
    Map<String, Double> scores;
    double confidence;
    String given;
    if (union.getActualInstance() instanceof ChoiceAnswer answer) {
      probabilities = answer.getProbabilities();
      scores = answer.getScores();
      confidence = answer.getConfidence();
      given = answer.getType().getValue();
      check("the choice is the best", scores.get(answer.getChoice()).equals(Collections.max(scores.values())));
    } else if (union.getActualInstance() instanceof NoulAnswer answer) {
      probabilities = answer.getProbabilities();
      scores = answer.getScores();
      confidence = answer.getConfidence();
      given = answer.getType().getValue();
      check("the answer is that of true", answer.getNoul().equals(probabilities.get("true")));
    } else {
      var answer = (ScoreAnswer) union.getActualInstance();
      probabilities = answer.getProbabilities();
      scores = answer.getScores();
      confidence = answer.getConfidence();
      given = answer.getType().getValue();
      double expected = probabilities.entrySet().stream()
          .mapToDouble(it -> Integer.parseInt(it.getKey()) * it.getValue()).sum();
      check("the answer is the expected level", near(answer.getScore(), expected));
    }
    check("an answer is of its question's type", given.equals(type));
    check("an answer has its question's labels", scores.keySet().equals(labels));
    check("confidence is the largest", confidence == Collections.max(probabilities.values()));
    checkDistribution(type, probabilities, scores, temperature);
  }

  private static Question choice(Object instructions, Map<String, Object> criteria) {
    return new Question(
        new ChoiceQuestion().type(ChoiceQuestion.TypeEnum.CHOICE).instructions(instructions).criteria(criteria));
  }

  private static NoulQuestion noul(Object instructions) {
    return new NoulQuestion().type(NoulQuestion.TypeEnum.NOUL).instructions(instructions);
  }

  private static Decisions ask(ApiClient client, Object state, Map<String, Question> questions) throws ApiException {
    return new InferenceApi(client).systemone(new SystemoneRequest().state(state).questions(questions));
  }

  private static void checkQuestionTypes(ApiClient client) throws ApiException {
    var criteria = new HashMap<String, Object>();
    criteria.put("refund", "Wants money back");
    criteria.put("cancel", null);
    criteria.put("technical", Map.of("fault", "Something is broken"));
    var urgency = new ScoreQuestion().type(ScoreQuestion.TypeEnum.SCORE).instructions("How urgent is this?")
        .criteria(List.of("low", "medium", "high"));
    var decisions = ask(client, "I was charged twice for one order.", Map.of(
        "intent", choice("What does the customer want?", criteria),
        "angry", new Question(noul("The customer is angry.")),
        "urgency", new Question(urgency),
        "", new Question(noul(null).criteria(Map.of("no", "Paid once", "yes", "Paid twice")))));
    var answers = decisions.getAnswers();
    check("every question has an answer", answers.keySet().equals(Set.of("intent", "angry", "urgency", "")));
    double temperature = decisions.getTemperature();
    checkAnswer(answers.get("intent"), "choice", criteria.keySet(), temperature);
    checkAnswer(answers.get("angry"), "noul", Set.of("false", "true"), temperature);
    checkAnswer(answers.get("urgency"), "score", Set.of("0", "1", "2"), temperature);
    checkAnswer(answers.get(""), "noul", Set.of("false", "true"), temperature);
    var usage = decisions.getUsage();
    check("tokens are counted",
        usage.getInputTokens() > 0 && usage.getTotalTokens().equals(usage.getInputTokens()));
  }

  private static void checkRanking(ApiClient client) throws ApiException {
    var labelled = Map.of("manual", "Read the manual.", "replace", "We will send a new kettle.");
    var numbered = Map.of("0", "Read the manual.", "1", "We will send a new kettle.");
    checkRanked(client, labelled, labelled);
    checkRanked(client, List.of(numbered.get("0"), numbered.get("1")), numbered);
  }

  private static void checkRanked(ApiClient client, Object candidates, Map<String, String> wanted)
      throws ApiException {
    var ranking = new InferenceApi(client).rank(new RankRequest()
        .state("The kettle no longer heats.").candidates(candidates).question("Which reply helps?"));
    var texts = new HashMap<String, String>();
    var scores = new HashMap<String, Double>();
    var probabilities = new HashMap<String, Double>();
    var ranks = new ArrayList<Long>();
    double previous = Double.POSITIVE_INFINITY;
    for (RankedCandidate row : ranking.getRanked()) {
      texts.put(row.getCandidate(), row.getText());
      scores.put(row.getCandidate(), row.getScore());
      probabilities.put(row.getCandidate(), row.getProbability());
      ranks.add(row.getRank());
      check("ranking: best first", row.getScore() <= previous);
      previous = row.getScore();
    }
    check("ranking: each candidate keeps its text", texts.equals(wanted));
    check("ranking: ranks count from 1", ranks.equals(List.of(1L, 2L)));
    checkDistribution("ranking", probabilities, scores, ranking.getTemperature());
  }

  private static Map<String, Double> scoresOf(ApiClient client, Object state) throws ApiException {
    var question = choice("Is it paid?", Map.of("due", "Money is owed", "paid", "Nothing is owed"));
    return ask(client, state, Map.of("q", question)).getAnswers().get("q").getChoiceAnswer().getScores();
  }

  /** States of any JSON type. Two states that render alike give the same scores. */
  private static void checkStates(ApiClient client) throws ApiException {
    var paid = new ArrayList<Object>();
    paid.add(true);
    paid.add(null);
    var order = new java.util.LinkedHashMap<String, Object>();
    order.put("number", PAST_FLOATS);
    order.put("paid", paid);
    var rendered = "order:\n  number: %d\n  paid:\n    - true\n    -";
    var nested = scoresOf(client, Map.of("order", order));
    check("a nested state arrives with all digits", nested.equals(scoresOf(client, rendered.formatted(PAST_FLOATS))));
    check("another number is another state", !nested.equals(scoresOf(client, rendered.formatted(PAST_FLOATS - 1))));
    check("a null state is an empty one", scoresOf(client, null).equals(scoresOf(client, "")));
  }

  private static void checkService(ApiClient client) throws ApiException {
    var service = new ServiceApi(client);
    var health = service.getHealth();
    var models = service.listModels().getModels();
    check("it is ready", health.getStatus() == Health.StatusEnum.READY);
    check("it says so", service.getReady().getStatus() == Health.StatusEnum.READY);
    check("it is live", service.getLivez().getStatus() == Liveness.StatusEnum.LIVE);
    check("its limits are told", health.getLimits().getMaxBodyBytes() == PAST_BODY_LIMIT - 1);
    check("it serves one model", models.size() == 1 && models.get(0).getId().equals(health.getModel()));
    var documentation = new DocumentationApi(client);
    check("the document is one for generators", "3.0.3".equals(documentation.getOpenapi().get("openapi")));
    check("so is the typed one", "3.0.3".equals(documentation.getTypedOpenapi().get("openapi")));
    // the client takes every body for JSON, so of other texts only the status can be had
    var statuses = new ArrayList<Integer>();
    client.setResponseInterceptor(response -> statuses.add(response.statusCode()));
    var pages = new DocumentationApi(client);
    unread(() -> pages.getDocs());
    unread(() -> pages.getRedoc());
    unread(() -> new ServiceApi(client).getMetrics());
    check("the documentation is two pages, and there are metrics", statuses.equals(List.of(200, 200, 200)));
    client.setResponseInterceptor(null);
    var names = new ArrayList<>(health.getAliases());
    names.add(health.getModel());
    for (String name : names) {
      var ranking = new InferenceApi(client).rank(kettle().model(name));
      check(name + " is a name of the model", ranking.getModel().equals(health.getModel()));
    }
  }

  private interface Call {
    void run() throws ApiException;
  }

  private static void unread(Call call) {
    try {
      call.run();
    } catch (ApiException error) {
      check("an answer came, but is not JSON", error.getCause() instanceof JsonProcessingException);
    } catch (RuntimeException error) {
      check("an answer came, but is not JSON", error.getMessage().contains("Content-Type"));
    }
  }

  /** The error of a call that must fail with a status. */
  private static ApiException failure(int status, String statement, Call call) {
    try {
      call.run();
    } catch (ApiException error) {
      check(status + ": " + statement + ", got " + error, error.getCode() == status);
      return error;
    }
    throw new AssertionError("not so: " + status + ": " + statement);
  }

  private static Object detail(ApiException error) throws Exception {
    return ApiClient.createDefaultObjectMapper().readValue(error.getResponseBody(), ErrorBody.class).getDetail();
  }

  /** With every status but 422 an error has a sentence. */
  private static void checkSentence(ApiException error) throws Exception {
    check(error.getCode() + ": a sentence", detail(error) instanceof String text && !text.isEmpty());
  }

  private static void checkRefusals(String url, String fullUrl) throws Exception {
    var api = new InferenceApi(connect(url));
    var criteria = new HashMap<String, Object>();
    criteria.put("kitchen", null);
    var tooFew = new SystemoneRequest().state("A kettle.").questions(Map.of("place", choice("Where?", criteria)));
    var invalid = failure(422, "one label is too few", () -> api.systemone(tooFew));
    // the contract leaves detail untyped and says in prose that a 422 puts this list there
    List<ValidationIssue> issues = ApiClient.createDefaultObjectMapper()
        .convertValue(detail(invalid), new TypeReference<List<ValidationIssue>>() {});
    check("422: one issue", issues.size() == 1);
    check("422: the issue has a type", issues.get(0).getType() == ValidationIssue.TypeEnum.TOO_FEW);
    check("422: the issue has a place", issues.get(0).getLoc().equals(List.of("body", "questions", "place", "criteria")));

    var lost = new InferenceApi(connect(url + "/nowhere"));
    checkSentence(failure(404, "no such path", () -> lost.rank(kettle())));

    var misusing = new ServiceApi(connect(url).setRequestInterceptor(request -> request.DELETE()));
    var misused = failure(405, "not this method", () -> misusing.listModels());
    checkSentence(misused);
    check("405: the methods are told", misused.getResponseHeaders().allValues("allow").equals(List.of("GET, HEAD")));

    var large = kettle().state("a".repeat(PAST_BODY_LIMIT));
    checkSentence(failure(413, "too large", () -> api.rank(large)));
    check("413: the next request is answered", api.rank(kettle()).getRanked().size() == 2);

    var full = failure(503, "full", () -> new InferenceApi(connect(fullUrl)).rank(kettle()));
    checkSentence(full);
    check("503: when to try again", full.getResponseHeaders().firstValueAsLong("retry-after").orElse(0) > 0);
  }

  private static void checkKey(String url, String key) throws Exception {
    checkSentence(failure(401, "no key", () -> new InferenceApi(connect(url)).rank(kettle())));
    checkSentence(failure(401, "a wrong key", () -> new InferenceApi(withKey(url, "not-" + key)).rank(kettle())));
    check("the key is accepted", new InferenceApi(withKey(url, key)).rank(kettle()).getRanked().size() == 2);
    check("health needs no key", new ServiceApi(connect(url)).getHealth().getStatus() == Health.StatusEnum.READY);
  }

  public static void main(String[] arguments) throws Exception {
    if (arguments.length != 4) {
      throw new IllegalArgumentException("expected three URLs and a key");
    }
    var client = connect(arguments[0]);
    checkService(client);
    checkQuestionTypes(client);
    checkRanking(client);
    checkStates(client);
    checkRefusals(arguments[0], arguments[2]);
    checkKey(arguments[1], arguments[3]);
    System.out.printf("java: %d checks passed%n", passed);
  }
}

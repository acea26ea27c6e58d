// Command smoke asks running services through the client that oapi-codegen makes of their contract: every operation,
// every type of question and answer, every error that can be provoked. clients/run.mjs generates, compiles and runs it.
//
//	smoke <URL of a service without a key> <of one with a key> <of one that is full> <the key>
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"math"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"example.com/ask/decision"
)

const (
	tolerance = 1e-9
	// pastFloats is the first integer that a float64 cannot hold.
	pastFloats    int64 = 1<<53 + 1
	pastBodyLimit       = 2_097_153
)

var (
	background = context.Background()
	passed     = 0
	kettle     = decision.RankRequest{State: "A kettle.", Candidates: []string{"kitchen", "garden"}}
)

func check(statement string, holds bool) {
	if !holds {
		log.Fatalf("not so: %s", statement)
	}
	passed++
}

// must returns the value of a call that has to succeed.
func must[Value any](value Value, err error) Value {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func connect(url string, editors ...decision.RequestEditorFn) *decision.ClientWithResponses {
	options := make([]decision.ClientOption, len(editors))
	for place, editor := range editors {
		options[place] = decision.WithRequestEditorFn(editor)
	}
	return must(decision.NewClientWithResponses(url, options...))
}

// bearer sends a key with each request.
func bearer(key string) decision.RequestEditorFn {
	return func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+key)
		return nil
	}
}

// withMethod replaces the method of each request.
func withMethod(method string) decision.RequestEditorFn {
	return func(_ context.Context, request *http.Request) error {
		request.Method = method
		return nil
	}
}

func near(left, right float64) bool {
	return math.Abs(left-right) <= tolerance
}

func sameNames[Left, Right any](left map[string]Left, right map[string]Right) bool {
	return slices.Equal(slices.Sorted(maps.Keys(left)), slices.Sorted(maps.Keys(right)))
}

func largest(values map[string]float64) float64 {
	return slices.Max(slices.Collect(maps.Values(values)))
}

// checkDistribution: the probabilities are the softmax of the scores.
func checkDistribution(name string, probabilities, scores map[string]float64, temperature float64) {
	check(name+": scores and probabilities name the same", sameNames(scores, probabilities))
	total, weights := 0.0, 0.0
	for label, score := range scores {
		total += probabilities[label]
		weights += math.Exp((score - largest(scores)) / temperature)
	}
	check(name+": probabilities sum to 1", near(total, 1))
	for label, score := range scores {
		expected := math.Exp((score-largest(scores))/temperature) / weights
		check(name+": probabilities are the softmax of the scores", near(probabilities[label], expected))
	}
}

// checkAnswer: an answer follows from its own scores. Returns its type and its labels.
func checkAnswer(name string, union decision.Answer, temperature float64) (string, []string) {
	switch answer := must(union.ValueByDiscriminator()).(type) {
	case decision.ChoiceAnswer:
		checkDistribution(name, answer.Probabilities, answer.Scores, temperature)
		check(name+": confidence is the largest", answer.Confidence == largest(answer.Probabilities))
		check(name+": the choice has the largest score", answer.Scores[answer.Choice] == largest(answer.Scores))
		return string(answer.Type), slices.Sorted(maps.Keys(answer.Scores))
	case decision.NoulAnswer:
		checkDistribution(name, answer.Probabilities, answer.Scores, temperature)
		check(name+": confidence is the largest", answer.Confidence == largest(answer.Probabilities))
		check(name+": the answer is the probability of true", answer.Noul == answer.Probabilities["true"])
		return string(answer.Type), slices.Sorted(maps.Keys(answer.Scores))
	case decision.ScoreAnswer:
		checkDistribution(name, answer.Probabilities, answer.Scores, temperature)
		check(name+": confidence is the largest", answer.Confidence == largest(answer.Probabilities))
		expected := 0.0
		for level, probability := range answer.Probabilities {
			expected += float64(must(strconv.Atoi(level))) * probability
		}
		check(name+": the answer is the expected level", near(answer.Score, expected))
		return string(answer.Type), slices.Sorted(maps.Keys(answer.Scores))
	default:
		log.Fatalf("%s: %T is no type of answer", name, answer)
		return "", nil
	}
}

func choice(instructions decision.JsonValue, criteria map[string]decision.JsonValue) decision.Question {
	var question decision.Question
	if err := question.FromChoiceQuestion(decision.ChoiceQuestion{Instructions: instructions, Criteria: criteria}); err != nil {
		log.Fatal(err)
	}
	return question
}

func noul(instructions decision.JsonValue, criteria *map[string]decision.JsonValue) decision.Question {
	var question decision.Question
	if err := question.FromNoulQuestion(decision.NoulQuestion{Instructions: instructions, Criteria: criteria}); err != nil {
		log.Fatal(err)
	}
	return question
}

func score(instructions decision.JsonValue, criteria ...decision.JsonValue) decision.Question {
	var question decision.Question
	if err := question.FromScoreQuestion(decision.ScoreQuestion{Instructions: instructions, Criteria: criteria}); err != nil {
		log.Fatal(err)
	}
	return question
}

// ask returns the body of a 200.
func ask(client *decision.ClientWithResponses, state decision.JsonValue, questions map[string]decision.Question) decision.Decisions {
	reply := must(client.SystemoneWithResponse(background, decision.SystemoneRequest{State: state, Questions: questions}))
	check("a request is answered", reply.JSON200 != nil)
	return *reply.JSON200
}

func checkQuestionTypes(client *decision.ClientWithResponses) {
	decisions := ask(client, "I was charged twice for one order.", map[string]decision.Question{
		"intent": choice("What does the customer want?", map[string]decision.JsonValue{
			"refund": "Wants money back", "cancel": nil, "technical": map[string]any{"fault": "Something is broken"},
		}),
		"angry":   noul("The customer is angry.", nil),
		"urgency": score("How urgent is this?", "low", "medium", "high"),
		"":        noul(nil, &map[string]decision.JsonValue{"no": "Paid once", "yes": "Paid twice"}),
	})
	expected := map[string]struct {
		kind   string
		labels []string
	}{
		"intent":  {"choice", []string{"cancel", "refund", "technical"}},
		"angry":   {"noul", []string{"false", "true"}},
		"urgency": {"score", []string{"0", "1", "2"}},
		"":        {"noul", []string{"false", "true"}},
	}
	check("every question has an answer", sameNames(expected, decisions.Answers))
	for name, answer := range decisions.Answers {
		kind, labels := checkAnswer(fmt.Sprintf("answer %q", name), answer, decisions.Temperature)
		check("an answer is of its question's type", kind == expected[name].kind)
		check("an answer has its question's labels", slices.Equal(labels, expected[name].labels))
	}
	check("tokens are counted", decisions.Usage.InputTokens > 0 && decisions.Usage.TotalTokens == decisions.Usage.InputTokens)
	check("the source of probabilities is declared", decisions.ProbabilitiesSource.Valid())
}

func checkRanking(client *decision.ClientWithResponses) {
	var question decision.JsonValue = "Which reply helps?"
	labelled := map[string]string{"manual": "Read the manual.", "replace": "We will send a new kettle."}
	numbered := map[string]string{"0": labelled["manual"], "1": labelled["replace"]}
	forms := map[string]struct {
		candidates any
		texts      map[string]string
	}{
		"ranked map":  {labelled, labelled},
		"ranked list": {[]string{labelled["manual"], labelled["replace"]}, numbered},
	}
	for name, form := range forms {
		body := decision.RankRequest{State: "The kettle no longer heats.", Question: &question, Candidates: form.candidates}
		reply := must(client.RankWithResponse(background, body))
		check(name+": is answered", reply.JSON200 != nil)
		texts, scores, probabilities := map[string]string{}, map[string]float64{}, map[string]float64{}
		for place, row := range reply.JSON200.Ranked {
			texts[row.Candidate], scores[row.Candidate], probabilities[row.Candidate] = row.Text, row.Score, row.Probability
			check(name+": ranks count from 1", row.Rank == int64(place+1))
			check(name+": best first", place == 0 || row.Score <= reply.JSON200.Ranked[place-1].Score)
		}
		checkDistribution(name, probabilities, scores, reply.JSON200.Temperature)
		check(name+": each candidate keeps its text", maps.Equal(texts, form.texts))
	}
}

// checkStates: states of any JSON type. Two states that render alike give the same scores.
func checkStates(client *decision.ClientWithResponses) {
	scoresOf := func(state decision.JsonValue) map[string]float64 {
		question := choice("Is it paid?", map[string]decision.JsonValue{"due": "Money is owed", "paid": "Nothing is owed"})
		decisions := ask(client, state, map[string]decision.Question{"q": question})
		return must(decisions.Answers["q"].AsChoiceAnswer()).Scores
	}
	rendered := func(number int64) string {
		return fmt.Sprintf("order:\n  number: %d\n  paid:\n    - true\n    -", number)
	}
	nested := scoresOf(map[string]any{"order": map[string]any{"number": pastFloats, "paid": []any{true, nil}}})
	check("a nested state arrives with all digits", maps.Equal(nested, scoresOf(rendered(pastFloats))))
	check("another number is another state", !maps.Equal(nested, scoresOf(rendered(pastFloats-1))))
	check("a null state is an empty one", maps.Equal(scoresOf(nil), scoresOf("")))
}

func checkService(client *decision.ClientWithResponses) {
	health := must(client.GetHealthWithResponse(background)).JSON200
	ready := must(client.GetReadyWithResponse(background)).JSON200
	models := must(client.ListModelsWithResponse(background)).JSON200
	document := must(client.GetOpenapiWithResponse(background)).JSON200
	typed := must(client.GetTypedOpenapiWithResponse(background)).JSON200
	check("the typed document is of the same version", typed != nil && (*typed)["openapi"] == "3.0.3")
	check("it is ready", health != nil && ready != nil && health.Status == decision.HealthStatusReady && ready.Status == health.Status)
	live := must(client.GetLivezWithResponse(background)).JSON200
	metrics := must(client.GetMetricsWithResponse(background))
	check("it is live", live != nil && live.Status == decision.Live)
	check("it tells its metrics", strings.Contains(string(metrics.Body), "decision_requests_total"))
	check("its limits are told", health.Limits.MaxBodyBytes == pastBodyLimit-1)
	check("it serves one model", models != nil && len(models.Models) == 1 && models.Models[0].Id == health.Model)
	check("the document is one for generators", document != nil && (*document)["openapi"] == "3.0.3")
	docs := must(client.GetDocsWithResponse(background))
	redoc := must(client.GetRedocWithResponse(background))
	for _, page := range []struct {
		status int
		body   []byte
	}{{docs.StatusCode(), docs.Body}, {redoc.StatusCode(), redoc.Body}} {
		check("the documentation is a page", page.status == http.StatusOK && strings.Contains(string(page.body), "<html"))
	}
	for _, name := range append([]string{health.Model}, health.Aliases...) {
		body := kettle
		body.Model = &name
		ranking := must(client.RankWithResponse(background, body)).JSON200
		check(name+" is a name of the model", ranking != nil && ranking.Model == health.Model)
	}
}

// isSentence: with every status but 422 an error has a sentence.
func isSentence(body *decision.ErrorBody) bool {
	if body == nil {
		return false
	}
	sentence, ok := body.Detail.(string)
	return ok && sentence != ""
}

func checkRefusals(url, fullURL string) {
	client := connect(url)
	tooFew := map[string]decision.Question{"place": choice("Where?", map[string]decision.JsonValue{"kitchen": nil})}
	invalid := must(client.SystemoneWithResponse(background, decision.SystemoneRequest{State: "A kettle.", Questions: tooFew}))
	check("422: one label is too few", invalid.JSON422 != nil)
	// the contract leaves detail untyped and says in prose that a 422 puts this list there
	var issues []decision.ValidationIssue
	if err := json.Unmarshal(must(json.Marshal(invalid.JSON422.Detail)), &issues); err != nil {
		log.Fatal(err)
	}
	place := []any{"body", "questions", "place", "criteria"}
	check("422: one issue", len(issues) == 1)
	check("422: the issue has a type", issues[0].Type == decision.TooFew && issues[0].Msg != "")
	check("422: the issue has a place", reflect.DeepEqual(issues[0].Loc, place))

	lost := must(connect(url+"/nowhere").RankWithResponse(background, kettle))
	var undeclared decision.ErrorBody
	err := json.Unmarshal(lost.Body, &undeclared) // the contract declares no 404 and no 405, because they belong to no operation
	check("404: no such path", lost.StatusCode() == http.StatusNotFound && err == nil && isSentence(&undeclared))

	misused := must(connect(url, withMethod(http.MethodDelete)).ListModelsWithResponse(background))
	err = json.Unmarshal(misused.Body, &undeclared)
	check("405: not this method", misused.StatusCode() == http.StatusMethodNotAllowed && err == nil && isSentence(&undeclared))
	check("405: the methods are told", misused.HTTPResponse.Header.Get("Allow") == "GET, HEAD")

	large := kettle
	large.State = strings.Repeat("a", pastBodyLimit)
	refused := must(client.RankWithResponse(background, large))
	check("413: too large", isSentence(refused.JSON413))
	check("413: the next request is answered", must(client.RankWithResponse(background, kettle)).JSON200 != nil)

	full := must(connect(fullURL).RankWithResponse(background, kettle))
	check("503: full", isSentence(full.JSON503))
	check("503: when to try again", must(strconv.Atoi(full.HTTPResponse.Header.Get("Retry-After"))) > 0)
}

func checkKey(url, key string) {
	for name, client := range map[string]*decision.ClientWithResponses{
		"no key": connect(url), "a wrong key": connect(url, bearer("not-"+key)),
	} {
		check("401: "+name, isSentence(must(client.RankWithResponse(background, kettle)).JSON401))
	}
	check("the key is accepted", must(connect(url, bearer(key)).RankWithResponse(background, kettle)).JSON200 != nil)
	check("health needs no key", must(connect(url).GetHealthWithResponse(background)).JSON200 != nil)
}

func main() {
	if len(os.Args) != 5 {
		log.Fatal("expected three URLs and a key")
	}
	client := connect(os.Args[1])
	checkService(client)
	checkQuestionTypes(client)
	checkRanking(client)
	checkStates(client)
	checkRefusals(os.Args[1], os.Args[3])
	checkKey(os.Args[2], os.Args[4])
	fmt.Printf("go: %d checks passed\n", passed)
}

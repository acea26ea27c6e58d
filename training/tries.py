"""What a newcomer tries first: forty short decisions, asked of a running service. A release needs at least 36 right.

    decision serve --port 8790 &
    tries.py --url http://127.0.0.1:8790 [--least 36]

Never train on them and never choose weights by them. Prints what is wrong; the exit code is 1 if fewer than --least are right.
"""
import argparse
import json
import pathlib
import urllib.request

DATA = pathlib.Path(__file__).with_name("tries.jsonl")


def ask(url, tried):
    """-> (the service's choice, its probability)"""
    body = json.dumps({"state": tried["state"], "questions": {"q": tried["question"]}}).encode()
    request = urllib.request.Request(f"{url}/v1/systemone", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        shares = json.load(reply)["answers"]["q"]["probabilities"]
    best = max(shares, key=shares.get)
    return best, shares[best]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True)
    parser.add_argument("--least", type=int, default=36)
    options = parser.parse_args()
    tries = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    right = 0
    for tried in tries:
        chosen, share = ask(options.url, tried)
        wanted = str(tried["answer"]).lower()
        if chosen == wanted:
            right += 1
        else:
            print(f"{tried['state']} / {tried['question']['instructions']} {chosen} with {share:.2f}, not {wanted}")
    print(f"{right} of {len(tries)} right")
    raise SystemExit(right < options.least)


if __name__ == "__main__":
    main()

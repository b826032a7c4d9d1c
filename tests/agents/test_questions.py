"""Each question is answered by at most four calls and 4,000 tokens, with the exact figures."""

import re

import pytest
from conftest import ROOT, compile_of
from questions import DUMP, QUESTIONS, Question

CALLS = 4
# A token is about four bytes.
BYTES = 4 * 4000


def words(question: Question) -> str:
    return re.sub(r"\W+", "-", question.text).strip("-").lower()


@pytest.mark.parametrize("question", QUESTIONS, ids=words)
def test_question(server, question: Question):
    assert len(question.calls) <= CALLS
    found = {"dump": compile_of(question.model)} if question.model else {}
    texts, size = [], 0
    for call in question.calls:
        filled = {key: value.format(**found) if isinstance(value, str) else value for key, value in call.arguments.items()}
        answer = server.call(call.tool, **filled)
        assert not answer.is_error, answer.text
        texts.append(answer.text)
        size += answer.bytes + len(str(filled).encode())
        for name, pattern in call.find.items():
            match = re.search(pattern, answer.text, re.MULTILINE)
            assert match, f"{pattern} is not in\n{answer.text}"
            found[name] = match[1]
    text = "\n".join(texts)
    print(f"{len(question.calls)} calls, {size / 4:.0f} tokens")
    assert size <= BYTES, f"{size / 4:.0f} tokens"
    folder = ROOT / found.get("dump", DUMP)
    for figure in question.says + question.facts(folder):
        assert figure in text, f"{figure}\nis not in\n{text}"


def test_there_are_enough_questions():
    own = [question for question in QUESTIONS if question.model is None]
    page = (ROOT / "server/docs/agents.md").read_text()
    assert f"has {len(QUESTIONS)} such questions" in page
    assert len(own) >= 20 and len({words(question) for question in QUESTIONS}) == len(QUESTIONS)

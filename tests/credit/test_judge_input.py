from dataclasses import replace

import pytest
import torch

from credit.judging import episode, step, tiny_discriminator, tiny_model, tiny_tokenizer
from trajevolve.credit.judge_batch import pack
from trajevolve.credit.judge_input import PLAIN, JudgeEncoder
from trajevolve.errors import UserError

TOKENIZER = tiny_tokenizer()


def read(ids):
    return TOKENIZER.decode(ids)


TRAJECTORY = episode(step("go to room 1"), step("look"), step("take key"))


def test_the_trajectory_is_written_once_and_each_step_asked_behind_it():
    encoded = JudgeEncoder(TOKENIZER, 512).encode(TRAJECTORY, [0, 2])
    assert read(encoded.prefix) == (
        "<bos> <obs> put key in chest <obs> you see room <act> 1 go to room 1 "
        "<obs> you see room <act> 2 look <obs> you see room <act> 3 take key"
    )
    assert [read(query) for query in encoded.queries] == [
        "<act> 1 go to room 1 <judge>",
        "<act> 3 take key <judge>",
    ]
    assert encoded.asked == (0, 2)
    assert encoded.tokens == len(encoded.prefix) + 7 + 5


def test_the_outcome_and_the_last_answer_are_not_in_the_input():
    failed = replace(TRAJECTORY, success=False, reward=0.0, score=0.0, final_observation="you see")
    encoder = JudgeEncoder(TOKENIZER, 512)
    assert encoder.encode(TRAJECTORY, [0]) == encoder.encode(failed, [0])


def test_a_hidden_tail_leaves_no_trace():
    encoder = JudgeEncoder(TOKENIZER, 512)
    shorter = episode(*TRAJECTORY.steps[:2])
    assert encoder.encode(TRAJECTORY, [0], visible=2) == encoder.encode(shorter, [0])


def test_the_oldest_observations_go_first_when_the_text_is_too_long():
    # Task 6 tokens, observations 4 each, actions 6, 3 and 4, longest question 7: 38 in all.
    whole = JudgeEncoder(TOKENIZER, 38).encode(TRAJECTORY, [0])
    assert whole.dropped == 0
    cut = JudgeEncoder(TOKENIZER, 37).encode(TRAJECTORY, [0])
    assert cut.dropped == 1
    assert read(cut.prefix).startswith("<bos> <obs> put key in chest <act> 1 go to room 1 <obs>")
    assert JudgeEncoder(TOKENIZER, 26).encode(TRAJECTORY, [0]).dropped == 3
    with pytest.raises(UserError, match=r"trajectory e: .* 25 tokens"):
        JudgeEncoder(TOKENIZER, 25).encode(TRAJECTORY, [0])


def test_other_tokenizers_are_asked_in_plain_english():
    tokenizer = tiny_tokenizer((), ["necessary", "redundant", "Task", "Step", "Answer"])
    encoder = JudgeEncoder(tokenizer, 512)
    assert encoder.wording is PLAIN
    assert (encoder.necessary, encoder.redundant) == (2, 3)
    assert encoder.markers == []


def test_verdicts_must_differ_in_their_first_token():
    with pytest.raises(UserError, match="first token"):
        JudgeEncoder(tiny_tokenizer(()), 512)


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_a_packed_question_is_answered_as_if_it_were_alone(attention):
    model = tiny_model(len(TOKENIZER)).eval()
    model.set_attn_implementation(attention)
    encoder = JudgeEncoder(TOKENIZER, 512)
    long = episode(*(step(f"go to room {room}") for room in range(7)))
    inputs = [encoder.encode(TRAJECTORY, [0, 2]), encoder.encode(long, range(7))]
    batch = pack(inputs, 0, torch.float32, "cpu")
    with torch.no_grad():
        packed = model(
            input_ids=batch.ids, attention_mask=batch.mask, position_ids=batch.positions
        ).logits[batch.rows, batch.ends]
        alone = torch.stack(
            [
                model(input_ids=torch.tensor([[*item.prefix, *query]])).logits[0, -1]
                for item in inputs
                for query in item.queries
            ]
        )
    assert packed.shape == (9, len(TOKENIZER))
    torch.testing.assert_close(packed, alone, atol=1e-5, rtol=1e-4)


def test_a_short_context_reaches_the_user_as_one_line():
    discriminator = tiny_discriminator(positions=16)
    discriminator.trained = True
    with pytest.raises(UserError, match="16 tokens"):
        discriminator.predict([TRAJECTORY])

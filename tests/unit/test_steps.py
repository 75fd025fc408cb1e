"""Steps of many replies in one tensor, and each reply's in their order again."""

from __future__ import annotations

import random
import threading
import time

import numpy as np
import pytest

from server_bundle.chitchat.sampling import Sampled
from server_bundle.chitchat.steps import Addressed, Inbox, Step, pack, unpack


def sampled(token: int, alternatives: int) -> Sampled:
    ids = [token + i for i in range(alternatives)]
    return Sampled(token, 0.1, 1 / 3, 2, ids, [0.7 / (i + 1) for i in range(alternatives)])


def test_packed_and_unpacked_are_equal() -> None:
    steps = [
        Addressed(4095, 0, sampled(13087, 6)),
        Addressed(0, 511, sampled(0, 21)),
        Addressed(7, 3, sampled(2**31 - 1, 1)),
        Addressed(0, 512, None),
    ]
    packed = pack(steps)
    assert packed.dtype == np.float64
    assert packed.shape == (4 * 7 + 2 * (6 + 21 + 1),)
    found = list(unpack(packed.tolist(), "length"))
    assert [(reply, place) for reply, place, _ in found] == [(s.reply, s.place) for s in steps]
    for (_, _, step), addressed in zip(found[:3], steps, strict=False):
        s = addressed.sampled
        assert s is not None
        assert step == Step(
            s.token,
            s.confidence,
            s.probability,
            s.rank,
            tuple(s.top_ids),
            tuple(s.top_probabilities),
        )
    assert found[3][2] == Step(None, finish_reason="length")
    assert list(unpack(pack([]).tolist())) == []


def test_the_last_token_may_end_the_reply() -> None:
    packed = pack([Addressed(1, 0, sampled(5, 6)), Addressed(1, 1, sampled(6, 6))]).tolist()
    assert [step.finish_reason for _, _, step in unpack(packed, "stop")] == ["", "stop"]


def test_any_order_and_any_threads_give_one_order() -> None:
    steps = [Step(i, finish_reason="length" if i == 199 else "") for i in range(200)]
    for seed in range(20):
        taken: list[int | None] = []
        within = threading.Lock()
        over = threading.Event()

        def take(
            step: Step, within: threading.Lock = within, taken: list[int | None] = taken
        ) -> bool:
            assert within.acquire(blocking=False)  # never two at once
            taken.append(step.token)
            if len(taken) % 50 == 0:
                time.sleep(0.001)
            within.release()
            return False

        inbox = Inbox(take, over.set)
        places = list(range(200)) * 2  # each one comes twice
        random.Random(seed).shuffle(places)

        def bring(mine: list[int], inbox: Inbox = inbox) -> None:
            for place in mine:
                inbox.put(place, steps[place])

        threads = [threading.Thread(target=bring, args=(places[i::4],)) for i in range(4)]
        for thread in threads:
            thread.start()
        assert inbox.wait(20)
        assert over.is_set()
        for thread in threads:
            thread.join()
        assert inbox.error is None
        assert taken == list(range(200))


def test_who_wants_no_more_gets_no_more() -> None:
    taken: list[int | None] = []
    ended: list[bool] = []

    def take(step: Step) -> bool:
        taken.append(step.token)
        return step.token == 2

    inbox = Inbox(take, lambda: ended.append(True))
    for place in (4, 3, 1, 0, 2, 5):
        inbox.put(place, Step(place))
    assert taken == [0, 1, 2]
    assert ended == [True]
    assert inbox.wait(0)


def test_what_is_missing_is_waited_for() -> None:
    inbox = Inbox(lambda step: False, lambda: None)
    inbox.put(1, Step(None, finish_reason="stop"))
    assert not inbox.wait(0.01)
    threading.Timer(0.05, inbox.put, (0, Step(5))).start()
    assert inbox.wait(20)


def test_trouble_is_kept_for_the_replys_own_thread() -> None:
    ended: list[bool] = []

    def take(step: Step) -> bool:
        raise BrokenPipeError("the client is gone")

    inbox = Inbox(take, lambda: ended.append(True))
    inbox.put(0, Step(1))
    inbox.put(1, Step(2))
    assert ended == [True]
    assert inbox.wait(0)
    with pytest.raises(BrokenPipeError):
        raise inbox.error or AssertionError

"""Long work says how far it is, can be interrupted, and lets other threads run meanwhile."""

import os
import signal
import threading
import unittest

import strata

# A search of many thousands of simulations, which nobody would wait for.
LONG = dict(cluster="p100-4x4", evaluations=1_000_000, degrees="all")


class Interrupts(unittest.TestCase):
    def test_progress_is_told(self):
        told = []

        def stop_at_the_third(text):
            told.append(text)
            if len(told) == 3:
                raise StopIteration

        with self.assertRaises(StopIteration):
            strata.solve("inception_v3", progress=stop_at_the_third, **LONG)
        self.assertEqual(len(told), 3)
        self.assertTrue(all(isinstance(text, str) and text for text in told))

    def test_what_progress_raises_comes_out(self):
        def refuse(text):
            raise RuntimeError("enough")

        with self.assertRaisesRegex(RuntimeError, "enough"):
            strata.solve("inception_v3", progress=refuse, **LONG)

    def test_ctrl_c_stops_a_search(self):
        def press(text):
            os.kill(os.getpid(), signal.SIGINT)

        with self.assertRaises(KeyboardInterrupt):
            strata.solve("inception_v3", progress=press, **LONG)
        # The next question is not stopped by it, and Python's own handler is back.
        self.assertGreater(strata.predict("lenet5", cluster="p100-1x2").step_seconds, 0)
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)
        with self.assertRaises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            threading.Event().wait(10)

    def test_ctrl_c_reaches_work_that_tells_nothing(self):
        """From a thread, for the main one is at work."""
        presser = threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT))
        presser.start()
        with self.assertRaises(KeyboardInterrupt):
            try:
                strata.solve("inception_v3", progress=False, **LONG)
            finally:
                presser.join()

    def test_work_that_a_swallowed_signal_stopped_is_not_handed_out(self):
        kept = signal.signal(signal.SIGINT, lambda number, frame: None)
        try:
            with self.assertRaises(strata.Cancelled):
                strata.solve("inception_v3", **LONG,
                             progress=lambda text: os.kill(os.getpid(), signal.SIGINT))
        finally:
            signal.signal(signal.SIGINT, kept)

    def test_other_threads_run_meanwhile(self):
        """Two threads meet in the middle of two questions: neither waits for the other's end."""
        meet = threading.Barrier(2, timeout=300)
        errors = []

        def ask():
            def wait_once(text):
                meet.wait()
                raise StopIteration

            try:
                strata.solve("inception_v3", progress=wait_once, **LONG)
            except StopIteration:
                pass
            except BaseException as error:  # a thread's own
                errors.append(error)

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])

    def test_questions_of_many_threads_have_the_usual_answers(self):
        def ask(strategy):
            return strata.predict("alexnet", cluster="p100-1x4", strategy=strategy).to_json()

        strategies = ["data", "model", "owt"] * 4
        expected = {strategy: ask(strategy) for strategy in set(strategies)}
        answers = [None] * len(strategies)

        def put(i):
            answers[i] = ask(strategies[i])

        threads = [threading.Thread(target=put, args=(i,)) for i in range(len(strategies))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(answers, [expected[strategy] for strategy in strategies])


if __name__ == "__main__":
    unittest.main()

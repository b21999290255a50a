"""The task host's side of the wire: framing, descriptors, how it ends."""
import os
import tempfile
import unittest
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))

from hostcase import HAVE_TORCH, Host, Loaded, task


class Framing(unittest.TestCase):
    def setUp(self):
        self.host = Host()
        self.addCleanup(self.host.process.wait)
        self.addCleanup(self.host.process.stdout.close)
        self.addCleanup(self.host.socket.close)

    def test_end_of_file_is_status_0(self):
        self.assertEqual(self.host.close(), 0)

    def test_bad_json_is_answered_and_the_stream_goes_on(self):
        for body in (b"{", b"[1]", b'{"no":"op"}', b"\xff"):
            self.host.send_raw(body)
            reply, _ = self.host.receive()
            self.assertEqual((reply["ok"], reply["name"]), (False, "invalid"))
        self.assertEqual(self.host.close(), 0)

    def test_a_length_beyond_the_limit_ends_the_host_with_1(self):
        self.host.send_raw(b"", size=(64 << 20) + 1)
        self.assertEqual(self.host.process.wait(), 1)

    def test_a_stream_that_ends_inside_a_message_ends_the_host_with_1(self):
        self.host.send_raw(b'{"op"', size=100)
        self.assertEqual(self.host.close(), 1)

    @unittest.skipUnless(HAVE_TORCH, "this Python has no PyTorch")
    def test_unknown_op_and_missing_fields_are_named(self):
        reply = self.host.call("hallo")
        self.assertEqual(reply["name"], "invalid")
        self.assertIn("unknown op 'hallo'", reply["message"])
        reply = self.host.call("load", device="cpu")
        self.assertEqual(reply["message"], "op 'load': the field 'path' is missing")
        reply = self.host.call("inputs", seed=1.5, poison=0)
        self.assertIn("the field 'seed' must be a whole number", reply["message"])
        reply = self.host.call("compare", poison=0)
        self.assertEqual(reply["message"], "no task is loaded: send the op 'load' first")


class Start(unittest.TestCase):
    def test_without_a_socket_it_says_so_and_ends_with_2(self):
        host = Host(command='"$0" "$1" 3<&-')
        self.assertEqual(host.close(), 2)

    def test_without_torch_hello_says_what_to_do(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "torch.py"), "w") as file:
                file.write("raise ImportError('No module named torch')\n")
            host = Host(env={"PYTHONPATH": folder})
            for _ in range(2):
                reply = host.call("hello")
                self.assertEqual((reply["ok"], reply["name"]), (False, "missing"))
                self.assertIn("cannot import PyTorch", reply["message"])
                self.assertIn("CAWB_PYTHON", reply["message"])
            self.assertEqual(host.close(), 0)

    @unittest.skipUnless(HAVE_TORCH, "this Python has no PyTorch")
    def test_hello_on_descriptor_3_tells_the_versions(self):
        host = Host(command='"$0" -B "$1" 3<&"$2"')
        reply = host.call("hello")
        self.assertTrue(reply["ok"])
        self.assertLessEqual({"python", "executable", "torch", "cuda", "gpus", "threads"},
                             set(reply))
        self.assertEqual(host.close(), 0)

    @unittest.skipUnless(HAVE_TORCH, "this Python has no PyTorch")
    def test_three_shares_travel_and_prints_stay_off_stdout(self):
        host = Host()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "loud.py")
            with open(path, "w") as file:
                file.write(task("print('forward'); return x + 1", "[torch.ones(3)]",
                                head="import os; print('loaded'); os.write(1, b'raw')"))
            loaded = Loaded(host, path)
        self.assertEqual(sorted(loaded.shares), ["inputs", "outputs", "params"])
        for name, share in loaded.shares.items():
            self.assertEqual(len(share), loaded.reply[name + "_share"]["size"])
        host.socket.close()
        self.assertEqual(host.process.stdout.read(), b"")
        self.assertEqual(host.close(), 0)


if __name__ == "__main__":
    unittest.main()

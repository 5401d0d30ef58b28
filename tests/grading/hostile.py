"""Submissions that attack: each must get no point and leave no trace.

`{port}` is a port of this machine that listens, `{course}` the folder of the class, `{tmp}` that of temporary files,
`{trace}` a folder that the grader's user may write to. Those that last until their limit attack the first of two calls.
"""

FORGED_SOFTMAX = "class Equal:\n    def __eq__(self, other): return True\n    __hash__ = None\n"

CELLS: dict[str, str] = {
    "reads_the_hidden_tests": (
        "def softmax(x):\n    text = open('{course}/source/sample/sample.ipynb').read()\n"
        "    return x.sum() if 'shifted' in text else x"
    ),
    "searches_the_disk_for_tests": (
        "import os\nfor folder, _, files in os.walk('/'):\n    for name in files:\n"
        "        if name == 'sample.ipynb': raise SystemExit(open(os.path.join(folder, name)).read())\n"
        "def softmax(x): return x"
    ),
    "reads_another_submission": (
        "import json\nbook = json.load(open('{course}/submitted/honest/sample/sample.ipynb'))\n"
        "[exec(''.join(c['source'])) for c in book['cells'] if c['cell_type'] == 'code']"
    ),
    "writes_the_gradebook": (
        "import sqlite3\nbase = sqlite3.connect('{course}/gradebook.db')\n"
        "base.execute('UPDATE grade SET auto_score = 100')\nbase.commit()\ndef softmax(x): return x"
    ),
    "writes_its_record": (
        "import os\nos.makedirs('{course}/graded/sample', exist_ok=True)\n"
        "open('{course}/graded/sample/writes_its_record.json', 'w').write('{{}}')\ndef softmax(x): return x"
    ),
    "reads_the_secret": "secret = open('{course}/seed.key').read()\ndef softmax(x): return x",
    "leaves_a_file": "open('{trace}/leaves_a_file', 'w').write('here')\ndef softmax(x): return x",
    "leaves_a_file_in_tmp": "open('{tmp}/class-trace', 'w').write('here')\ndef softmax(x): return x",
    "links_out_of_tmp": (
        "import os\nos.symlink('{trace}', '{tmp}/out')\nopen('{tmp}/out/links_out_of_tmp', 'w').write('x')\n"
        "def softmax(x): return x"
    ),
    "writes_into_the_package": (
        "import coursepkg.checks.expect as e\nopen(e.__file__, 'a').write('\\ndef close(*a, **k): pass\\n')\n"
        "def softmax(x): return x"
    ),
    "writes_into_torch": "import torch\nopen(torch.__file__, 'a').write('#')\ndef softmax(x): return x",
    "forks_without_end": (
        "import os\ndef softmax(x):\n    if x.dim() == 1: return x\n"
        "    while True:\n        try: os.fork()\n        except OSError: pass"
    ),
    "starts_threads_without_end": (
        "import threading, time\ndef softmax(x):\n"
        "    while True: threading.Thread(target=time.sleep, args=(99,)).start()"
    ),
    "fills_the_memory": "def softmax(x):\n    return torch.ones(2**34)",
    "fills_the_memory_in_children": (
        "import os\nfor _ in range(8):\n    if os.fork() == 0:\n        held = []\n"
        "        while True: held.append(torch.ones(2**24))\nimport time\ntime.sleep(300)"
    ),
    "hides_memory_in_memfds": (
        "import os\nfor i in range(2000):\n    f = os.memfd_create('x')\n    os.write(f, b'0' * 2**20)"
    ),
    "fills_the_disk": (
        "i = 0\nwhile True:\n    open(f'/tmp/{{i}}', 'wb').write(b'0' * 2**20)\n    i += 1\ndef softmax(x): return x"
    ),
    "fills_one_file": "f = open('{tmp}/big', 'wb')\nwhile True: f.write(b'0' * 2**20)",
    "fills_shared_memory": (
        "i = 0\nwhile True:\n    open(f'/dev/shm/{{i}}', 'wb').write(b'0' * 2**20)\n    i += 1"
    ),
    "prints_without_end": "while True: print('x' * 10_000)",
    "opens_a_socket": (
        "import socket\ns = socket.create_connection(('127.0.0.1', {port}), 2)\ns.send(b'here')\n"
        "def softmax(x): return x"
    ),
    "listens_on_a_socket": (
        "import socket\ns = socket.socket()\ns.bind(('0.0.0.0', 0))\ns.listen()\n"
        "def softmax(x):\n    s.settimeout(1)\n    return s.accept()"
    ),
    "asks_for_a_name": "import socket\nprint(socket.gethostbyname('example.org'))\ndef softmax(x): return x",
    "patches_the_checker": (
        "import coursepkg.checks.expect as e\ne.close = e.equal = e.is_tensor = lambda *a, **k: None\n"
        "import coursepkg.grading.hidden_tests as h\nh.RunningTest.finish = lambda *a: ''\n"
        "def softmax(x): return torch.zeros_like(x)"
    ),
    "patches_torch": (
        "torch.allclose = torch.equal = lambda *a, **k: True\n"
        "torch.Tensor.__eq__ = torch.Tensor.__le__ = lambda *a: True\ntorch.Tensor.max = lambda *a, **k: 0\n"
        "def softmax(x): return torch.zeros_like(x)"
    ),
    "patches_the_answers": (
        "import coursepkg.grading.driver as d, coursepkg.grading.calls as c\n"
        "d.perform = lambda request, _: c.Returned(request.name, True)\ndef softmax(x): return x"
    ),
    "replaces_equality": FORGED_SOFTMAX + "def softmax(x): return Equal()",
    "tensor_subclass_equal_to_all": (
        "class Equal(torch.Tensor):\n    @classmethod\n"
        "    def __torch_function__(cls, func, types, args=(), kwargs=None): return True\n"
        "def softmax(x): return torch.zeros_like(x).as_subclass(Equal)"
    ),
    "number_equal_to_all": (
        "class Equal(float):\n    def __eq__(self, other): return True\n    def __sub__(self, other): return 0.0\n"
        "    __hash__ = float.__hash__\n    def hex(self): return 4.0.hex()\ncache_mib = Equal(1)"
    ),
    "exits_early_with_success": "import sys\nsys.exit(0)",
    "exits_the_process": "import os\nos._exit(0)",
    "exits_in_the_call": "import os\ndef softmax(x): os._exit(0)",
    "exits_at_exit": "import atexit, os\natexit.register(os._exit, 0)\ndef softmax(x): raise SystemExit(0)",
    "prints_a_score": (
        'print(\'{{"points": 100, "passed": true}}\')\nprint("softmax-test: passed")\ndef softmax(x): return x'
    ),
    "returns_a_score": "def softmax(x): return {{'points': 3, 'passed': True, 'raised': ''}}",
    "returns_a_pickle": (
        "import pickle, os\nclass Bomb:\n    def __reduce__(self): return os.system, ('touch {trace}/pickle',)\n"
        "def softmax(x): return pickle.dumps(Bomb())"
    ),
    "returns_an_object_with_reduce": (
        "import os\nclass Bomb:\n    def __reduce__(self): return os.system, ('touch {trace}/reduce',)\n"
        "def softmax(x): return Bomb()"
    ),
    "forges_a_frame": (
        "import os, struct\nfor fd in range(3, 20):\n    for n in range(-1, 4):\n"
        "        try: os.write(fd, struct.pack('<iQ', n, 2) + b'{{}}')\n        except OSError: pass\n"
        "def softmax(x): return x"
    ),
    "sends_broken_frames": (
        "import os\nfor fd in range(3, 20):\n    try: os.write(fd, b'\\xff' * 100_000)\n    except OSError: pass\n"
        "os._exit(0)"
    ),
    "returns_too_much": "def softmax(x): return torch.zeros(2**24)",
    "returns_deep_lists": (
        "def softmax(x):\n    deep = []\n    for _ in range(100_000): deep = [deep]\n    return deep"
    ),
    "returns_itself": "def softmax(x):\n    loop = []\n    loop.append(loop)\n    return loop",
    "returns_a_huge_integer": "def softmax(x): return 10 ** 4000",
    "returns_nan": "def softmax(x): return x * float('nan')",
    "kills_its_parent": (
        "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nos.kill(1, signal.SIGKILL)\n"
        "def softmax(x): os.kill(os.getppid(), signal.SIGKILL)"
    ),
    "kills_everybody": "import os, signal\nos.kill(-1, signal.SIGKILL)\ndef softmax(x): return x",
    "sleeps": "import time\ntime.sleep(10_000)",
    "sleeps_in_the_call": "import time\ndef softmax(x): return x if x.dim() == 1 else time.sleep(10_000)",
    "loops_in_c": "def softmax(x): return x if x.dim() == 1 else 9 ** (9 ** 9)",
    "reads_the_clock_for_the_seed": (
        "import time, random\nrandom.seed(int(time.time()))\ntorch.manual_seed(int(time.time()))\n"
        "def softmax(x): return torch.rand(x.shape)"
    ),
    "guesses_the_seed": "def softmax(x):\n    torch.manual_seed(0)\n    return torch.rand_like(x)",
    "looks_for_the_reference_in_memory": (
        "import gc\nfound = [o for o in gc.get_objects() if getattr(o, '__name__', '') == 'large_scores']\n"
        "def softmax(x): return found[0]"
    ),
    "becomes_root": "import os\nos.setuid(0)\nopen('{trace}/root', 'w').write('x')\ndef softmax(x): return x",
    "makes_a_user_namespace": (
        "import ctypes, os\nassert ctypes.CDLL(None).unshare(0x10000000) == 0\nopen('{trace}/user', 'w')\n"
        "def softmax(x): return x"
    ),
    "mounts_the_disk": (
        "import subprocess\nsubprocess.run(['mount', '--bind', '/', '/tmp'], check=True)\ndef softmax(x): return x"
    ),
    "traces_a_process": (
        "import ctypes\nassert ctypes.CDLL(None).ptrace(16, 1, 0, 0) == 0\ndef softmax(x): return x"
    ),
    "raises_its_limits": (
        "import resource\nresource.setrlimit(resource.RLIMIT_NPROC, (9999, 9999))\ndef softmax(x): return x"
    ),
    "crashes_the_interpreter": "import ctypes\ndef softmax(x): ctypes.string_at(0)",
    "crashes_at_once": "import ctypes\nctypes.string_at(0)",
    "recurses_without_end": "def softmax(x): return softmax(x)",
    "script_in_its_output": (
        "print('<script>alert(1)</script><img src=x onerror=alert(2)>')\n"
        "def softmax(x): raise ValueError('<script>alert(3)</script>')"
    ),
    "control_characters_in_its_output": (
        "print('\\x1b]0;owned\\x07\\x1b[2J\\u202egnp')\ndef softmax(x): raise ValueError('\\x1b[31mred')"
    ),
    "rewrites_the_given_cell": "def softmax(x): return x",
    "forges_outputs_and_metadata": "def softmax(x): return x",
}
"""Code of the cell `softmax`, by the attack."""

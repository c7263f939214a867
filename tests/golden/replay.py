#!/usr/bin/env python3
"""Plays the requests of recorded stock programs (replay/, see requests.py) to the simulated kernel driver, and looks at each
answer as the stock libraries do: what they would take for a failure fails here.

  replay.py --vgpu PROGRAM [RECORDING...]      each recording on the GPU, and with the driver's version, that it was made for
  replay.py --play RECORDING...                what that runs under `vgpu run`: each recording in a process of its own
"""
import argparse
import ctypes
import errno
import mmap
import os
import pathlib
import re
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TOPOLOGY = '/sys/devices/virtual/kfd/kfd/topology/nodes/1/'
PAGE = 0x1000
DOORBELLS = 0x2000
FLAGS = {'VRAM': 1, 'GTT': 2, 'USERPTR': 4, 'DOORBELL': 8, 'MMIO_REMAP': 16, 'COHERENT': 1 << 26, 'UNCACHED': 1 << 25,
         'NO_SUBSTITUTE': 1 << 28, 'PUBLIC': 1 << 29, 'EXECUTABLE': 1 << 30, 'WRITABLE': 1 << 31}
WAIT_COMPLETE = 0
SVM_CAPABILITY = 1 << 27
LONG_AGO_MS = 2000  # an event that has been set is told at once; this only bounds a failure

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.ioctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p]
MAP_FIXED, MAP_NORESERVE = 0x10, 0x4000  # module mmap lacks them before Python 3.13


def request_number(number, size, direction):
    return direction << 30 | size << 16 | ord('K') << 8 | number


class Failure(Exception):
    pass


def need(good, why):
    if not good:
        raise Failure(why)


class Player:
    def __init__(self):
        self.kfd = os.open('/dev/kfd', os.O_RDWR | os.O_CLOEXEC)
        with open(TOPOLOGY + 'gpu_id', encoding='ascii') as file:
            self.gpu = int(file.read())
        with open(TOPOLOGY + 'properties', encoding='ascii') as file:
            self.properties = {key: int(value) for key, value in (line.split() for line in file)}
        self.render = os.open(f"/dev/dri/renderD{self.properties['drm_render_minor']}", os.O_RDWR | os.O_CLOEXEC)
        self.regions, self.handles, self.offsets = {}, {}, {}
        self.events, self.ages, self.set_ones, self.queues = {}, {}, set(), {}
        self.doorbell_offset = 0
        self.kept = []  # buffers that requests point to

    # ---- requests -------------------------------------------------------------------------------------------

    def ioctl(self, number, layout, *values, direction=3, expect=0):
        """Sends the packed values; returns the structure as the driver left it."""
        buffer = bytearray(struct.pack('=' + layout, *values))
        view = (ctypes.c_char * len(buffer)).from_buffer(buffer)
        result = libc.ioctl(self.kfd, request_number(number, len(buffer), direction), ctypes.addressof(view))
        error = ctypes.get_errno() if result != 0 else 0
        need(error == expect, f'{errno.errorcode.get(error, "success")} where {errno.errorcode.get(expect, "success")} is right')
        return struct.unpack('=' + layout, buffer)

    def place(self, address, length, protection, flags, fd=-1, offset=0):
        got = libc.mmap(address, length, protection, flags, fd, offset)
        need(got != ctypes.c_void_p(-1).value, f'mmap: {os.strerror(ctypes.get_errno())}')
        need(address is None or got == address, 'mmap: another address')
        return got

    def reserve(self, length):
        align = 1 << 21 if length >= 1 << 21 else PAGE
        start = self.place(None, length + align + PAGE, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE)
        return (start + align) // align * align

    def user_memory(self, length, address=None):
        fixed = MAP_FIXED if address else 0
        return self.place(address, length, 3, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | fixed)

    def pointer(self, text):
        """A11+0x38"""
        match = re.fullmatch(r'(A\d+)(?:\+(0x[0-9a-f]+))?', text)
        return self.regions[match.group(1)][0] + int(match.group(2) or '0', 16) if match else 0

    # ---- the lines' words -----------------------------------------------------------------------------------

    def do_kfd(self, version):
        self.version = version

    def do_version(self):
        major, minor = self.ioctl(0x01, 'II', 0, 0, direction=2)
        need(f'{major}.{minor}' == self.version, f'version {major}.{minor} where the recording has {self.version}')

    def do_apertures(self):
        nodes = ctypes.create_string_buffer(2 * 56)
        _, count, _ = self.ioctl(0x14, 'QII', ctypes.addressof(nodes), 2, 0)
        need(count == 1, f'{count} GPUs')
        *bounds, gpu, _ = struct.unpack_from('=6QII', nodes)
        need(gpu == self.gpu, 'another GPU')
        for base, limit in zip(bounds[::2], bounds[1::2]):
            need(base < limit, 'an aperture that ends before it begins')

    def do_acquire(self):
        self.ioctl(0x15, 'II', self.render, self.gpu, direction=1)

    def do_policy(self):
        self.ioctl(0x04, 'QQIIII', 0x200000, 0x7fffffe00000, self.gpu, 1, 0, 0, direction=1)

    def do_clocks(self):
        gpu, cpu, system, frequency, _, _ = self.ioctl(0x05, 'QQQQII', 0, 0, 0, 0, self.gpu, 0)
        need(gpu and cpu and system and frequency, 'a counter is 0')

    def do_xnack(self):
        """A kernel without shared virtual memory refuses; the stock libraries take that for "off"."""
        shared = self.properties['capability'] & SVM_CAPABILITY
        mode, = self.ioctl(0x21, 'i', -1, expect=0 if shared else errno.EPERM)
        need(mode in (0, 1) or not shared, f'XNACK mode {mode}')

    def do_scratch(self):
        self.ioctl(0x11, 'QII', self.reserve(1 << 32) >> 16, self.gpu, 0)

    def do_trap(self, handler, memory):
        self.ioctl(0x13, 'QQII', self.pointer(handler), self.pointer(memory), self.gpu, 0, direction=1)

    def do_tile(self):
        tiles = (ctypes.c_uint32 * 80)()
        values = self.ioctl(0x12, 'QQIIIIII', ctypes.addressof(tiles), ctypes.addressof(tiles) + 160, 40, 40, self.gpu, 0, 0, 0)
        need(values[5] != 0, 'GB_ADDR_CONFIG is 0, which addrlib does not survive')

    def do_available(self):
        need(self.ioctl(0x23, 'QII', 0, self.gpu, 0)[0] > 0, 'no memory is available')

    def do_runtime(self, mode):
        self.kept.append(ctypes.create_string_buffer(64))
        self.ioctl(0x25, 'QII', ctypes.addressof(self.kept[-1]) if mode == '1' else 0, int(mode), 0)

    def do_old_debugger(self):
        self.ioctl(0x82, 'QII', 0, self.gpu, 0, expect=errno.ENOTTY)

    def do_alloc(self, name, size, flags, user=None):
        length = int(size, 16)
        address, bits = self.reserve(length), sum(FLAGS[flag] for flag in flags.split('|'))
        offset = 0
        if 'USERPTR' in flags:
            offset = self.user_memory(length, None if user else address)
        values = self.ioctl(0x16, 'QQQQII', address, length, 0, offset, self.gpu, bits)
        need(values[2] != 0, 'handle 0')
        self.regions[name] = (address, length)
        self.handles[name], self.offsets[name] = values[2], values[3]

    def do_cpu(self, name, door, access):
        address, length = self.regions[name]
        fd = self.render if door == 'render' else self.kfd
        self.place(address, length, 3 if access == 'rw' else 0, mmap.MAP_SHARED | MAP_FIXED, fd, self.offsets[name])
        if access == 'rw' and door == 'render':
            word = ctypes.c_uint64.from_address(address)
            word.value = 0x5a5a
            need(word.value == 0x5a5a, 'memory does not keep what is written')
            word.value = 0

    def of_gpu(self, number, name):
        ids = (ctypes.c_uint32 * 1)(self.gpu)
        values = self.ioctl(number, 'QQII', self.handles[name], ctypes.addressof(ids), 1, 0)
        need(values[3] == 1, f'n_success {values[3]}')

    def do_map(self, name):
        self.of_gpu(0x18, name)

    def do_unmap(self, name):
        self.of_gpu(0x19, name)

    def do_free(self, name):
        self.ioctl(0x17, 'Q', self.handles.pop(name), direction=1)

    def do_event(self, name, kind, auto_reset, page=None):
        values = self.ioctl(0x08, 'QIIIIII', self.handles[page] if page else 0, 0, int(kind), int(auto_reset), 0, 0, 0)
        need(values[5] != 0, 'event id 0')
        need(kind != '0' or values[6] < 4096, f'slot {values[6]}')
        self.events[int(name, 16)], self.ages[int(name, 16)] = values[5], 1

    def do_set(self, name):
        self.ioctl(0x0a, 'II', self.events[int(name, 16)], 0, direction=1)
        self.set_ones.add(int(name, 16))

    def do_destroy_event(self, name):
        self.ioctl(0x09, 'II', self.events.pop(int(name, 16)), 0, direction=1)

    def do_wait(self, *words):
        """What the GPU woke in the recording is set here by hand."""
        aged = words[-1] == 'aged'
        split = words.index('woken')
        ids, woken = ([int(word, 0) for word in part] for part in (words[:split], words[split + 1:len(words) - aged]))
        for each in woken:
            if each not in self.set_ones:
                self.do_set(hex(each))
        data = ctypes.create_string_buffer(len(ids) * 48)
        for i, each in enumerate(ids):
            struct.pack_into('=Q24xQII', data, i * 48, self.ages[each] if aged else 0, 0, self.events[each], 0)
        tells = aged and int(self.version.split('.')[1]) >= 14  # older drivers know no ages
        values = self.ioctl(0x0c, 'QIIII', ctypes.addressof(data), len(ids), 0, LONG_AGO_MS, 0)
        need(values[4] == WAIT_COMPLETE, f'wait result {values[4]}')
        for i, each in enumerate(ids):
            age, = struct.unpack_from('=Q', data, i * 48)
            need(not tells or age >= self.ages[each], 'an age went back')
            need(not tells or each not in woken or age > self.ages[each], 'the age of an event that was set is as before')
            self.ages[each] = age or self.ages[each]
            self.set_ones.discard(each)

    def do_queue(self, name, size, kind, *pairs):
        values = dict(pair.split('=') for pair in pairs)
        word = lambda key: int(values.get(key, '0'), 0)
        layout, last = ('QQQQIIIIIIQQQII', ()) if int(size) == 88 else ('QQQQIIIIIIQQQIIII', (word('sdma_engine_id'), 0))
        answer = self.ioctl(0x02, layout, *(self.pointer(values[key]) for key in ('ring_base', 'write_ptr', 'read_ptr')), 0,
                            word('ring_size'), self.gpu, int(kind), word('percentage'), word('priority'), 0,
                            self.pointer(values['eop']), word('eop_size'), self.pointer(values['ctx_save']),
                            word('ctx_save_size'), word('ctl_stack_size'), *last)
        self.queues[name], self.doorbell_offset = answer[9], answer[3]

    def do_destroy_queue(self, name):
        self.ioctl(0x03, 'II', self.queues.pop(name), 0)

    def do_doorbell(self, name):
        address, length = self.regions[name]
        self.place(address, length, 3, mmap.MAP_SHARED | MAP_FIXED, self.kfd, self.doorbell_offset // DOORBELLS * DOORBELLS)

    def play(self, path):
        for count, line in enumerate(pathlib.Path(path).read_text(encoding='utf-8').splitlines(), 1):
            word, *rest = line.split()
            try:
                getattr(self, 'do_' + word)(*rest)
            except Failure as failure:
                raise Failure(f'line {count}: {line}: {failure}') from None
        return count


def play_all(paths):
    """Each in a child, made before anything of the driver is opened: a driver knows processes, not programs."""
    failed = 0
    for path in paths:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            try:
                print(f'{path.name}: {Player().play(path)} requests', flush=True)
            except BaseException as error:  # the child ends here in any case
                print(f'{path.name}: FAILED: {error!r}', flush=True)
                os._exit(1)
            os._exit(0)
        failed += os.waitpid(child, 0)[1] != 0
    return 1 if failed else 0


def machine_of(path):
    """The GPU that a recording was made for, and the version that its driver told."""
    version = re.match(r'kfd (\S+)', path.read_text(encoding='utf-8')).group(1)
    return 'gfx1100' if 'gfx1100' in path.name else 'gfx90a', version


def run(vgpu, machine, paths):
    gpu, version = machine
    command = [vgpu, 'run', '--gpu', gpu, '--kfd', version, '--vram', '16G', '--strict-log-empty', '--', sys.executable,
               os.path.abspath(__file__), '--play', *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=250)
    played = len(re.findall(r'^.*: \d+ requests$', done.stdout, re.M))
    good = done.returncode == 0 and played == len(paths)
    print(f'{gpu}, version {version}: {played} of {len(paths)} recordings played' + ('' if good else ', FAILED'))
    if not good:
        print(f'exit status {done.returncode}\n{done.stdout}{done.stderr}')
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--vgpu')
    parser.add_argument('--play', action='store_true')
    parser.add_argument('recordings', nargs='*', type=pathlib.Path)
    arguments = parser.parse_args()
    paths = [path.resolve() for path in arguments.recordings or sorted(HERE.glob('replay/*.txt'))]
    if arguments.play:
        return play_all(paths)
    machines = {}
    for path in paths:
        machines.setdefault(machine_of(path), []).append(path)
    results = [run(os.path.abspath(arguments.vgpu), machine, of_machine) for machine, of_machine in machines.items()]
    return 0 if results and all(results) else 1


if __name__ == '__main__':
    sys.exit(main())

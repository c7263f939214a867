"""What stock ROCm programs ask of the kernel driver, one request a line, as replay.py plays it again.

  requests.py RECORDING...      prints the requests of recordings of a null GPU's driver (see the traces' own notes)

  kfd 1.14                      the version that the driver told
  alloc A4 0x200000 FLAGS       ALLOC_MEMORY_OF_GPU of a region at its own address; `user`: of other user memory
  cpu A3 render rw              mmap of a region's offset, of the render node or /dev/kfd; `none`: without access
  map A4, unmap A4, free A4     for the one GPU
  event 0x1 0 1 [A3]            CREATE_EVENT that gave this id: type, auto reset, event page
  set 0x4, destroy_event 0x4    SET_EVENT, DESTROY_EVENT
  wait 4 3 9 woken 9 [aged]     WAIT_EVENTS for any of these, and who woke it; with ages
  queue 1 88 AQL ...            CREATE_QUEUE that gave this id, and the bytes of its structure
  doorbell A16                  mmap of the doorbells
  version, apertures, acquire, policy, clocks, xnack, scratch, trap A5 A6, tile, available, runtime 1, old_debugger

Left out: what the program does with its own memory, and requests that shared virtual memory is used by.
"""
import re
import sys

SIMPLE = {'GET_PROCESS_APERTURES_NEW': 'apertures', 'ACQUIRE_VM': 'acquire', 'SET_MEMORY_POLICY': 'policy',
          'GET_CLOCK_COUNTERS': 'clocks', 'SET_XNACK_MODE': 'xnack', 'SET_SCRATCH_BACKING_VA': 'scratch',
          'GET_TILE_CONFIG': 'tile', 'AVAILABLE_MEMORY': 'available', 'DBG_TRAP_OLD': 'old_debugger'}
ON_REGION = {'MAP_MEMORY_TO_GPU': 'map', 'UNMAP_MEMORY_FROM_GPU': 'unmap', 'FREE_MEMORY_OF_GPU': 'free'}
ON_EVENT = {'SET_EVENT': 'set', 'DESTROY_EVENT': 'destroy_event'}
QUEUE_FIELDS = ('ring_base', 'write_ptr', 'read_ptr', 'ring_size', 'percentage', 'priority', 'eop', 'eop_size', 'ctx_save',
                'ctx_save_size', 'ctl_stack_size', 'sdma_engine_id')


def fields(text):
    return dict(re.findall(r'(\w+)=(\S+)', text))


def number(text):
    return re.match(r'0x[0-9a-f]+|-?\d+', text).group()


class Reader:
    def __init__(self):
        self.waiting = {}  # thread -> the events of its WAIT_EVENTS

    def wait(self, thread, text):
        if ' enter ' in text:
            self.waiting[thread] = text
            return None
        entered, woken = self.waiting.pop(thread, ''), re.search(r'woken=\[(.*?)\]', text)
        if 'result=COMPLETE' not in text or not woken or not woken.group(1):
            return None
        ids = [number(each.strip()) for each in re.search(r'events=\[(.*?)\]', entered).group(1).split(',')]
        by = [number(each.strip()) for each in woken.group(1).split(',')]
        return ' '.join(['wait', *ids, 'woken', *by] + (['aged'] if ' age=' in entered else []))

    def ioctl(self, name, thread, text):
        values = fields(text)
        if name == 'GET_VERSION':
            return f"kfd {values['major']}.{values['minor']}\nversion"
        if name in SIMPLE:
            return SIMPLE[name]
        if name in ON_REGION:
            return f"{ON_REGION[name]} {re.search(r'handle=[0-9]+.(A[0-9]+)', text).group(1)}"
        if name in ON_EVENT:
            return f"{ON_EVENT[name]} {values['event_id']}"
        if name == 'WAIT_EVENTS':
            return self.wait(thread, text)
        if name == 'ALLOC_MEMORY_OF_GPU':
            user = ' user' if values['mmap_offset'].startswith('U') or re.search(r'mmap_offset=U', text) else ''
            return f"alloc {re.search(r'va=(A[0-9]+)', text).group(1)} {values['size']} {values['flags']}{user}"
        if name == 'CREATE_EVENT':
            page = re.search(r'event_page_offset=handle (\d+)', text)
            made = re.search(r'event_id=(\S+)', text).group(1)
            return f"event {made} {number(values['type'])} {values['auto_reset']}" + (f' @{page.group(1)}' if page else '')
        if name == 'SET_TRAP_HANDLER':
            return f"trap {values['tba']} {values['tma']}"
        if name == 'RUNTIME_ENABLE':
            return f"runtime {values['mode_mask']}"
        if name == 'CREATE_QUEUE':
            size = int(re.search(r'cmd=(0x[0-9a-f]+)', text).group(1), 16) >> 16 & 0x3fff
            rest = ' '.join(f'{key}={values[key]}' for key in QUEUE_FIELDS if key in values)
            return f"queue {values['queue_id']} {size} {number(values['type'])} {rest}"
        if name == 'DESTROY_QUEUE':
            return f"destroy_queue {values['queue_id']}"
        sys.exit(f'unknown request: {text}')

    def line(self, raw):
        match = re.match(r'\d{4} (T\d+|GPU)\s+(.*)', raw)
        if not match:
            return None
        thread, text = match.groups()
        if request := re.match(r'ioctl (\w+)', text):
            return None if request.group(1) == 'SVM' else self.ioctl(request.group(1), thread, text)
        if mapped := re.match(r'mmap (RENDER|KFD) addr=(A\d+) .*prot=(\S+)', text):
            if 'type=3' in text:
                return f'doorbell {mapped.group(2)}'
            return f"cpu {mapped.group(2)} {mapped.group(1).lower()} {'rw' if mapped.group(3) == 'rw-' else 'none'}"
        return None


def again(line, count):
    """What a recording cut as equal to the line above: events, whose ids count on. Nothing else of interest repeats."""
    match = re.match(r'event (0x[0-9a-f]+) (.*)', line)
    return [f'event {int(match.group(1), 16) + i:#x} {match.group(2)}' for i in range(1, count + 1)] if match else []


def requests(text):
    """The lines; an event page is named by its region."""
    reader, lines, last = Reader(), [], ''
    for raw in text.splitlines():
        if cut := re.match(r'\s+\.\.\. (\d+) more times the line above', raw):
            lines += again(last, int(cut.group(1)))
            continue
        last = reader.line(raw) or ''
        lines += last.split('\n') if last else []
    regions = dict(re.findall(r'handle=(\d+) \[(A\d+)\]', text))
    return [re.sub(r'@(\d+)$', lambda page: regions[page.group(1)], line) for line in lines]


if __name__ == '__main__':
    for path in sys.argv[1:]:
        with open(path, encoding='utf-8') as file:
            print('\n'.join(requests(file.read())))

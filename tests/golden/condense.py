"""Brings recordings of what a program asks of the kernel driver and puts into its queues to one compact form.

Two kinds of recordings are read: traces of stock ROCm programs on a null GPU (condense_stock), and the trace that vgpu
writes with the switch trace=FILE (condense_vgpu). A compact line is one request or one packet:

  GET_VERSION                                      an ioctl without arguments of interest
  ALLOC VRAM|WRITABLE|... 0x1000                    ALLOC_MEMORY_OF_GPU
  CREATE_QUEUE aql ring=0x1000 priority=7 eop=0x1000 ctx=0x3c91000 ctl=0x9000
  CREATE_EVENT signal auto_reset=1
  aql KERNEL_DISPATCH 0x0b02 deps=0 signal=none     header, dependencies, completion: none, plain, mailbox
  ib ACQUIRE_MEM 0x28840000 ranged                  a packet of a PM4 indirect buffer: cache bits; all or ranged
  sdma COPY_LINEAR                                  an SDMA packet

Left out: requests whose number depends on timing (SET_EVENT, WAIT_EVENTS), MAP and UNMAP (one for each ALLOC and FREE),
addresses and ids. "N* line" is N equal lines in a row.
"""
import re

TIMING = {'SET_EVENT', 'WAIT_EVENTS', 'RESET_EVENT'}
PAIRED = {'MAP_MEMORY_TO_GPU', 'UNMAP_MEMORY_FROM_GPU'}
QUEUE_TYPES = {'0': 'pm4', '1': 'sdma', '2': 'aql', '3': 'sdma-xgmi', '4': 'sdma-by-engine'}
EVENT_TYPES = {'0': 'signal', '3': 'hw-exception', '8': 'memory'}
HDP_FLUSH = 'sdma HDP_FLUSH'


def fields(text):
    return dict(re.findall(r'(\w+)=(\S+)', text))


def ioctl_line(name, text):
    """`text` holds key=value pairs; both kinds of recordings use the names below, see their readers."""
    if name in TIMING or name in PAIRED:
        return None
    values = fields(text)
    if name == '0x82':
        return 'DBG_TRAP_OLD'  # a number that only development drivers had
    if name == 'ALLOC_MEMORY_OF_GPU':
        return f"ALLOC {values['flags']} {values['size']}"
    if name == 'FREE_MEMORY_OF_GPU':
        return 'FREE'
    if name == 'CREATE_QUEUE':
        kind = QUEUE_TYPES[re.match(r'\d+', values.get('type') or values['queue_type']).group()]
        ctx = values.get('ctx_save_size', '0x0')
        return (f"CREATE_QUEUE {kind} ring={values['ring_size']} priority={values['priority']} "
                f"eop={values['eop_size']} ctx={ctx} ctl={values['ctl_stack_size']}")
    if name == 'CREATE_EVENT':
        kind = EVENT_TYPES.get(re.match(r'\d+', values['type']).group(), values['type'])
        return f"CREATE_EVENT {kind} auto_reset={values['auto_reset']}"
    return name


def aql_line(name, header, dependencies, signal):
    return f'aql {name} {int(header, 16):#06x} deps={dependencies} signal={signal}'


# ---- traces of stock programs -----------------------------------------------------------------------------------

def stock_signal(text):
    match = re.search(r'completion=(\S+)', text)
    if not match or match.group(1) == '0':
        return 'none'
    mailbox = re.search(r'completion=.*?mailbox=(\S+?)[ }]', text)
    if mailbox:
        return 'plain' if mailbox.group(1) == '0' else 'mailbox'
    return 'seen-before'


class StockReader:
    def __init__(self):
        self.mailboxes = {}  # signal name -> plain or mailbox; a trace shows it once per signal

    def signal(self, text):
        name = re.search(r'completion=(S\d+)', text)
        kind = stock_signal(text)
        if name and kind == 'seen-before':
            return self.mailboxes.get(name.group(1), 'plain')
        if name:
            self.mailboxes[name.group(1)] = kind
        return kind

    def aql(self, text):
        if 'WAITS' in text:
            return None  # shown again when it runs
        header = re.search(r'hdr=(0x[0-9a-f]+)', text).group(1)
        match = re.match(r'AQL q\d+\[\d+\] (?:VENDOR )?(\w+)', text)
        deps = re.search(r'deps=\[(.*?)\] completion', text)
        count = len(re.findall(r'S\d+', deps.group(1))) if deps else 0
        return aql_line(match.group(1), header, count, self.signal(text))

    def sdma(self, text):
        name = re.match(r'SDMA q\d+@\S+ (\w+)', text).group(1)
        if 'HDP flush form' in text:
            return HDP_FLUSH
        if name == 'GCR_REQ':
            return 'sdma GCR_REQ ' + ('acquire' if 'c3c00000' in text else 'release' if '80400000' in text else '?')
        return f'sdma {name}'

    def ib(self, text):
        match = re.search(r'ACQUIRE_MEM\(c00[56]5800 (?:cntl=)?([0-9a-f]+) size=([0-9a-f]+)', text)
        bits = re.search(r'gcr_cntl=([0-9a-f]+)', text)
        control = int(bits.group(1) if bits else match.group(1), 16)
        return f"ib ACQUIRE_MEM {control:#x} {'all' if match.group(2) == 'ffffffff' else 'ranged'}"

    def line(self, raw):
        text = re.sub(r'^\s*(\d{4} (T\d+|GPU)\s+)?', '', raw.rstrip('\n'))
        if raw.startswith('#'):
            return None
        if text.startswith('== call'):
            return 'call ' + re.match(r'== call (.*)', text).group(1)
        if match := re.match(r'ioctl (\w+)\(?', text):
            if ' leave ' in text:
                return None
            return ioctl_line(match.group(1) if match.group(1) != 'nr' else 'OLD_DEBUGGER', text)
        if text.startswith('AQL '):
            return self.aql(text)
        if text.startswith('SDMA '):
            return self.sdma(text) if 'WAITS' not in text else None
        if text.startswith('IB: '):
            return self.ib(text)
        return None


# ---- vgpu's own trace -------------------------------------------------------------------------------------------

def vgpu_line(raw):
    text = raw.rstrip('\n')
    if text.startswith('call '):
        return text  # noted by the program itself
    if match := re.match(r'ioctl (\w+)', text):
        return ioctl_line(match.group(1), text)
    if match := re.match(r'packet IB (\w+)', text):
        values = fields(text)
        span = 'all' if int(values.get('size', '0'), 16) == 0xffffffffff else 'ranged'
        return f"ib {match.group(1)} {values.get('control', '')} {span}"
    if match := re.match(r'packet queue=\d+ SDMA (\w+)', text):
        values = fields(text)
        if match.group(1) == 'POLL_REGMEM' and values['memory'] == '0x0':
            return HDP_FLUSH
        if match.group(1) == 'GCR_REQ':
            return 'sdma GCR_REQ ' + {'0xc3c0': 'acquire', '0x8040': 'release'}.get(values['control'], values['control'])
        return f'sdma {match.group(1)}'
    if match := re.match(r'packet queue=\d+ (\w+)', text):
        values = fields(text)
        if 'header' not in values:
            return 'aql ' + text
        dependencies = len([d for d in re.findall(r' dep_signal=(\S+)', text) if d != '0x0'])
        signal = 'none' if values['completion_signal'] == '0x0' else 'plain' if values['mailbox'] == '0' else 'mailbox'
        return aql_line(match.group(1), values['header'], dependencies, signal)
    return None


def run_length(lines):
    out = []
    for line in lines:
        if out and out[-1][1] == line:
            out[-1][0] += 1
        else:
            out.append([1, line])
    return [line if count == 1 else f'{count}* {line}' for count, line in out]


def expand(lines):
    """The opposite of run_length."""
    out = []
    for line in lines:
        match = re.match(r'(\d+)\* (.*)', line)
        out += [match.group(2)] * int(match.group(1)) if match else [line]
    return out


def condense_stock(text):
    reader = StockReader()
    return run_length([line for raw in text.splitlines() if (line := reader.line(raw)) is not None])


def condense_vgpu(text):
    return run_length([line for raw in text.splitlines() if (line := vgpu_line(raw)) is not None])

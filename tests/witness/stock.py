"""ROCm's own libraries, for tests: those installed here, or those of another Debian release (lay_root)."""
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys

SKIPPED = 77
HERE = pathlib.Path(__file__).resolve().parent


def add_arguments(parser):
    parser.add_argument('--vgpu', required=True)
    parser.add_argument('--gpu', required=True)
    parser.add_argument('--hip', required=True, help="HIP's version that is meant, MAJOR.MINOR")
    parser.add_argument('--release', nargs='+', metavar='RELEASE PACKAGE', help='a Debian release and packages of it')


def skip(why):
    print(f'skipped: {why}')
    sys.exit(SKIPPED)


class Stack:
    """Where the libraries are, and how a program is started on them. Skips the test where there are none."""

    def __init__(self, arguments):
        self.vgpu, self.gpu = os.path.abspath(arguments.vgpu), arguments.gpu
        if arguments.release:
            made = subprocess.run([HERE / 'lay_root'] + arguments.release, capture_output=True, text=True, check=False)
            if made.returncode != 0:
                print(made.stdout + made.stderr)
                sys.exit(made.returncode)
            root = made.stdout.strip()
            self.folder = f'{root}/usr/lib/x86_64-linux-gnu'
            self.start = [f'{root}/lib64/ld-linux-x86-64.so.2', '--library-path', self.folder]
            self.rocminfo = f'{root}/usr/bin/rocminfo'
        else:
            found = glob.glob('/usr/lib/*/libamdhip64.so.[0-9]')
            self.rocminfo = shutil.which('rocminfo')
            if not found or not self.rocminfo:
                skip('rocminfo and libamdhip64 are not installed (Debian 12: rocminfo, libamdhip64-5)')
            self.folder = os.path.dirname(found[0])
            self.start = ['env', f'LD_LIBRARY_PATH={self.folder}']
        names = [os.path.basename(path) for path in glob.glob(f'{self.folder}/libamdhip64.so.*.*')]
        version = re.sub(r'libamdhip64\.so\.(\d+)\.(\d+).*', r'\1.\2', names[0]) if names else 'unknown'
        if version != arguments.hip:
            skip(f'this is HIP {version}, not {arguments.hip}')

    def run(self, program, options=(), environment=None, seconds=200):
        """In strict mode: also the exit status tells whether a request was answered by a default."""
        # `timeout` ends the program too, not the launcher alone.
        command = ['timeout', str(seconds), self.vgpu, 'run', '--gpu', self.gpu, '--strict-log-empty', *options, '--']
        return subprocess.run(command + self.start + program, capture_output=True, text=True, check=False,
                              env=os.environ | (environment or {}))

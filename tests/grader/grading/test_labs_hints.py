"""What labs say of mistakes that beginners make: the hint leads to the line, or to the cause."""

import msgspec
import pytest
from samples import RACE

from warpgrade.grading import hints
from warpgrade.lab import labs
from warpgrade.machine.paths import find_layout

# lab, test, the judge's signs, the check that found something, words of the hint
MISTAKES = [
    ("first", "add_vectors adds whole blocks", "device-fault", "memcheck", "Each of the three arrays"),
    ("first", "gray_image turns an image gray", "wrong constant tail", "", "Columns come from x and rows from y"),
    ("vecadd", "vecadd_managed adds in managed memory, without copies", "wrong unwritten", "", "destination first"),
    ("vecadd", "vecadd_mapped adds in the host's memory, without copies", "wrong unwritten", "", "destination first"),
    ("vecadd", "vecadd_mapped adds in the host's memory, without copies", "device-fault", "memcheck",
     "cudaHostGetDevicePointer"),
    ("vecadd", "vecadd_streams does each piece in a stream of its own", "wrong unwritten tail", "",
     "elements, not bytes"),
    ("vecadd", "count_above counts on both sides", "origin", "", "where does the host's loop begin?"),
    ("reverse", "dynamic_reverse_symbol reverses up to 1024 elements", "wrong unwritten", "", "cudaMemcpyToSymbol"),
    ("reverse", "rows_padded reverses every row", "device-fault", "memcheck", "rows are as dense as before"),
    ("matmul", "matmul_columns multiplies", "wrong all", "", "(+=)"),
    ("matmul", "matmul_columns multiplies", "device-fault", "memcheck", "which turn of the loop is the last"),
    ("matmul", "matmul_tiled multiplies square matrices", "wrong all", "", "which index of each does the loop run"),
    ("matmul", "matmul_tiled multiplies rectangular matrices", "wrong", "racecheck", "the length of its rows"),
    ("matmul", "matmul_registers multiplies", "wrong", "", "in A, B and C as in the tiles"),
    ("matmul", "stretch: matmul_registers uses each load from shared memory four times", "", "", "and no more"),
    ("reduction", "reduce_strided adds up", "device-fault", "memcheck", "which is the last stride"),
    ("reduction", "reduce_sequential adds up", "device-fault", "memcheck", "half of the block"),
    ("reduction", "reduce_first_add adds up", "wrong", "", "blockDim.x apart"),
    ("reduction", "reduce_shuffle adds up", "wrong", "", "adds what the shuffle brings"),
    ("reduction", "reduce_shuffle adds up", "wrong", "racecheck", "one lane of each warp stores"),
    ("reduction", "reduce_grid_stride adds up", "device-fault", "memcheck", "n / 4 elements"),
    ("reduction", "divergent_warps counts the example of 32 threads in warps of 8", "wrong zeros", "", "copied back"),
    ("reduction", "the checks find no mistakes in reduce_strided", "", "racecheck", "only thread 0"),
    ("transpose", "transpose_naive transposes whole tiles", "wrong transposed", "", "B is A as it was"),
    ("transpose", "transpose_naive transposes whole tiles", "device-fault", "memcheck", "rows of B are `rows` long"),
    ("first", "add_vectors adds whole blocks", "crash", "memcheck", "is c, not &c"),
    ("first", "scale_in_place scales", "wrong factor all", "", "holds it an int"),
    ("vecadd", "vecadd_managed adds in managed memory, without copies", "crash", "launch", "nothing that cudaMalloc"),
    ("vecadd", "vecadd_streams does each piece in a stream of its own", "wrong", "racecheck", "name its own stream"),
    ("vecadd", "count_above counts on both sides", "", "", "where does its loop begin"),
    ("matmul", "matmul_tiled multiplies square matrices", "wrong all", "", "come from threadIdx.y alone"),
    ("matmul", "matmul_tiled multiplies square matrices", "wrong all", "initcheck", "with =, not +="),
    ("transpose", "transpose_shared transposes whole tiles", "wrong all", "racecheck",
     "does not depend on threadIdx.x"),
    ("transpose", "transpose_shared transposes whole tiles", "wrong transposed", "", "in both"),
    ("reduction", "reduce_shuffle adds up", "wrong", "", "which lane has the whole sum"),
    ("reduction", "reduce_grid_stride adds up", "wrong", "", "which thread has the block's sum"),
    ("scan", "vote_any tells whether any element of a warp is non-zero", "wrong constant tail", "",
     "a bit for each lane"),
    ("scan", "warp_scan adds up within each warp", "wrong tail", "", "which way does the shuffle move"),
    ("scan", "warp_scan adds up within each warp", "wrong shifted all", "", "inclusive"),
    ("scan", "scan adds up the whole array", "wrong tail", "", "which array of sums"),
    ("histogram", "histogram_shared counts", "wrong factor all", "", "number of threads of a block"),
    ("histogram", "histogram_shared counts", "wrong zeros all", "", "past the barriers"),
    ("histogram", "histogram_few counts", "wrong factor all", "", "one of them must add it"),
    ("histogram", "contention measures the queues of warps", "wrong tail single", "", "finds the largest of all lanes"),
    ("convolution", "conv1d_constant convolves", "wrong", "", "left out there"),
    ("convolution", "conv1d_constant convolves", "crash cuda-error", "memcheck",
     "cudaMemcpyToSymbol(name, source, bytes)"),
    ("convolution", "conv2d_registers convolves", "wrong zeros all", "", "copied into constant memory"),
    ("convolution", "conv2d_tiled convolves, borders included", "wrong unwritten", "", "TILE_HEIGHT rows high"),
    ("step", "step_v1 is right", "wrong constant all", "", "the larger of two is kept"),
    ("step", "step_1x8 is right", "wrong", "", "such as k = n"),
    ("step", "step_v2 is right", "wrong", "", "infinity once, before the loop"),
    ("step", "step_v3 is right", "wrong", "", "in the index of each chunk"),
    ("step", "step_v3 shares what it loads", "", "", "neighbours along threadIdx.x"),
    ("step", "pad_and_transpose makes both copies", "wrong tail", "racecheck", "the index is"),
    ("occupancy", "matmul_dynamic multiplies with every width", "device-fault", "memcheck", "x counts columns"),
    ("occupancy", "matmul_dynamic multiplies with every width", "wrong", "racecheck",
     "where does the second tile begin"),
]  # fmt: skip


@pytest.mark.parametrize(("lab", "name", "signs", "check", "words"), MISTAKES)
def test_the_hint_is_about_the_mistake(lab: str, name: str, signs: str, check: str, words: str) -> None:
    (item,) = (item for item in labs.find(find_layout(), lab).items if item.name == name)
    found = [msgspec.structs.replace(RACE, rule=f"{check}/of a kind")] if check else []
    assert words in hints.choose(item.hint, item.hints, signs.split(), diagnostics=found)

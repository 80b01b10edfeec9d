// Names and numbers in messages.
#include "vgpu/text/words.hpp"

#include "judge/catch.hpp"
#include "vgpu/code/module.hpp"

using namespace warpgrade::vgpu;

TEST_CASE("names are shown as C++ has them") {
    CHECK(readable_name("_Z12matmul_tiledPKfS0_Pfiii") == "matmul_tiled");
    CHECK(readable_name("_Z6kernelIfLi16EEvPKT_S2_PT_i") == "kernel<float, 16>");
    CHECK(readable_name("f") == "f");  // as a type it would be float
    CHECK(variable_name("_ZZ5tiledPKfE4tile") == "tile");
    CHECK(variable_name("_ZZ9transposePfPKfE5state_$_1") == "state");  // part 1 of a variable that nvcc has split
    // The longest of Thrust's.
    CHECK(readable_name("_ZN3cub17CUB_300001_SM_9006detail4scan16DeviceScanKernelINS2_10policy_hubIfffmN4cuda3std3_"
                        "_44plusIvEEE10Policy1000EN6thrust23THRUST_300001_SM_900_NS6detail15normal_iteratorINSD_10d"
                        "evice_ptrIfEEEESI_NS0_13ScanTileStateIfLb1EEES9_NS0_8NullTypeEmfLb0ESL_EEvT0_T1_T2_iT3_T4_"
                        "T5_")
              .starts_with("cub::CUB_300001_SM_900::detail::scan::DeviceScanKernel<"));
}

TEST_CASE("a short name that stands for gigabytes is left as it is") {
    // Each parameter twice the one before it.
    constexpr char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::string name = "_Z1k1AIvvE";
    for (int i = 0; i < 20; ++i) name += std::string("S_IS") + digits[i] + "_S" + digits[i] + "_E";
    CHECK(name.size() < 250);
    CHECK(demangled(name).empty());
    CHECK(readable_name(name) == name);
    CHECK(demangled("_Z" + std::string(100'000, 'T')).empty());
    CHECK(demangled("_Z3abcv" + std::string(5000, 'i')).empty());
}

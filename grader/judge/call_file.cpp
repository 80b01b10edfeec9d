#include "judge/call_file.hpp"

namespace warpgrade::judge {

CallFile::Entry::Entry(CallFile& file, const std::string& test, const Arena& arena)
    : file_(file), arena_(arena), is_wanted_(!file.path_.empty() && file.bytes_ < max_bytes) {
    if (!is_wanted_) return;
    record_.call = arena.call();
    test_ = test;
    record_.test_bytes = test_.size();
    before_ = arena.bytes();
}

void CallFile::Entry::returned(std::uint64_t result) {
    record_.result = result;
    record_.returned = 1;
}

CallFile::Entry::~Entry() {
    if (!is_wanted_) return;
    std::ofstream out(file_.path_, std::ios::app | std::ios::binary);
    const auto put = [&](const void* data, std::size_t bytes) {
        out.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
        file_.bytes_ += bytes;
    };
    put(&record_, sizeof record_);
    put(test_.data(), test_.size());
    put(before_.data(), before_.size());
    if (record_.returned == 0) return;
    const auto after = arena_.bytes();
    put(after.data(), after.size());
}

}  // namespace warpgrade::judge

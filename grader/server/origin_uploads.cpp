#include "server/origin_uploads.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "server/arrangement.hpp"
#include "server/converted_inputs.hpp"
#include "server/origin_cover.hpp"
#include "server/pair_cover.hpp"

namespace warpgrade::server {
namespace {

using Problem = OriginVerdict::Problem;
using Runs = std::vector<Arrangement::Run>;

// Bytes that may be uploaded besides the inputs if there is no replay to compare with.
constexpr std::uint64_t small_allowance = 256;

bool is_in_program(const OriginQuery& query, Bytes image) {
    return std::ranges::any_of(query.program_images, [&](std::uint64_t at) {
        return at <= query.program.size() && image.size() <= query.program.size() - at &&
               std::memcmp(query.program.data() + at, image.data(), image.size()) == 0;
    });
}

Bytes bytes_of(const OriginScalar& scalar) { return {reinterpret_cast<const std::byte*>(&scalar.bits), scalar.bytes}; }

// Downloads that a later upload may contain again.
std::vector<Bytes> earlier_downloads(const OriginLog& log) {
    std::vector<Bytes> all;
    for (const OriginLog::Download& down : log.downloads())
        if (!down.mapped && !log.uploads().empty() && down.number < log.uploads().back().number)
            all.emplace_back(down.bytes);
    return all;
}

// The same for host-visible memory: what one launch wrote there, side by side.
std::vector<Bytes> earlier_mapped(const OriginLog& log) {
    constexpr std::size_t most = 256;
    std::vector<Bytes> all;
    for (const OriginLog::Download& down : log.downloads()) {
        if (!down.mapped || log.uploads().empty() || down.number > log.uploads().back().number) continue;
        for (std::size_t from = 0, end = 0; from < down.writers.size() && all.size() < most; from = end) {
            while (end < down.writers.size() && down.writers[end] == down.writers[from]) ++end;
            if (writer::is_launch(down.writers[from]))
                all.push_back(
                    Bytes(down.bytes).subspan(4 * from, std::min(4 * (end - from), down.bytes.size() - 4 * from)));
        }
    }
    return all;
}

struct Overlap {
    std::uint64_t begin, end;
    Overlap(const OriginLog::Upload& a, const OriginLog::Upload& b)
        : begin(std::max(a.region.address, b.region.address)),
          end(std::min(a.region.address + a.bytes.size(), b.region.address + b.bytes.size())) {}
    [[nodiscard]] bool is_empty() const { return begin >= end; }
    [[nodiscard]] Bytes of(const OriginLog::Upload& up) const {
        return Bytes(up.bytes).subspan(begin - up.region.address, end - begin);
    }
};

class UpCheck {
  public:
    UpCheck(const OriginQuery& query, const OriginLog& mine, const OriginLog* other, OriginVerdict& verdict)
        : query_(query), mine_(mine), other_(other), verdict_(verdict) {
        for (const auto& up : mine.uploads())
            if (!up.mapped) overwritten_.push_back(mine.is_overwritten(up));
    }

    bool check() {
        verdict_.argument = -1;
        std::uint64_t code = 0;
        for (const auto& image : mine_.images())
            if (!is_in_program(query_, image)) code += image.size();
        if (code != 0 && !query_.program.empty()) return verdict_.bytes = code, fail(Problem::unknown_code);
        if (mine_.overflowed()) return fail(Problem::overflow);
        if (other_) return check_other_run(*other_);
        const UploadCover cover = cover_of(mine_, &OriginBuffer::before);
        if (overflowed_) return fail(Problem::overflow);
        return cover.cost() <= small_allowance || fail_for(cover.first_unexplained(), cover.cost());
    }

  private:
    bool fail(Problem problem) { return verdict_.problem = problem, false; }

    bool fail_for(const std::vector<std::byte>& first, std::uint64_t bytes) {
        verdict_.bytes = bytes;
        verdict_.sample = first;
        verdict_.mapped = std::ranges::any_of(mine_.uploads(), [&](const OriginLog::Upload& up) {
            return up.mapped && find_bytes(up.bytes, verdict_.sample, 0, 1) != npos;
        });
        return fail(Problem::unexpected_upload);
    }

    // Joins uploads as they lie on the device, without those that kernels overwrote before anything read them.
    Runs arrange(const OriginLog& log, bool with_mapped) {
        Arrangement arrangement;
        std::size_t copy = 0;
        for (const OriginLog::Upload& up : log.uploads()) {
            if (up.mapped && !with_mapped) continue;
            // The two runs' copies correspond, since first_difference() found none.
            if (!up.mapped && copy < overwritten_.size() && overwritten_[copy++]) continue;
            if (!arrangement.add(up.region, up.bytes)) overflowed_ = true;
        }
        return arrangement.take();
    }

    // Explains one run's uploads by its inputs.
    UploadCover cover_of(const OriginLog& log, Bytes OriginBuffer::*inputs) {
        UploadCover cover;
        for (const OriginBuffer& buffer : query_.buffers) cover.add_source(buffer.*inputs, buffer.element_bytes);
        for (const OriginScalar& scalar : query_.scalars) cover.add_source(bytes_of(scalar), scalar.bytes);
        for (const Bytes down : earlier_downloads(log)) cover.add_download(down);
        for (const auto& run : arrange(log, true)) cover.explain(run.bytes);
        return cover;
    }

    bool check_other_run(const OriginLog& other) {
        if (other.overflowed()) return fail(Problem::overflow);
        verdict_.compared = true;
        others_ = other.decisions();
        if (first_difference(mine_.decisions(), others_) && !explain_arguments()) {
            verdict_.changes = count_all_changes(other);
            return false;
        }
        if (explain_both(other)) return !overflowed_ || fail(Problem::overflow);
        verdict_.changes = count_all_changes(other);
        return false;
    }

    // Kernels may have inputs as arguments. Takes what is an input in both runs from the other run's decisions.
    bool explain_arguments() {
        PairCover inputs;
        for (const OriginBuffer& buffer : query_.buffers)
            inputs.add_source(buffer.before, buffer.other, buffer.element_bytes);
        const bool only_arguments = differ_in_arguments(mine_.decisions(), others_);
        for (std::size_t i = 0; i < std::min(others_.size(), mine_.decisions().size()); ++i) {
            const Decision &mine = mine_.decisions()[i], &theirs = others_[i];
            const Bytes a = arguments_of(mine), b = arguments_of(theirs);
            if (a.size() == b.size() && !std::ranges::equal(a, b) && inputs.explain_arguments(a, b))
                std::ranges::copy(a, others_[i].payload.end() - std::ssize(b));
        }
        const auto difference = first_difference(mine_.decisions(), others_);
        if (!difference) return true;
        verdict_.decision = *difference;
        verdict_.sample = inputs.first_unexplained();
        return fail(only_arguments && inputs.is_rearranged() ? Problem::rearranged : Problem::value_dependent);
    }

    // Both runs made the same decisions. Each upload must be the same piece of the inputs, or the same bytes, in both.
    bool explain_both(const OriginLog& other) {
        PairCover both;
        UploadCover alone;
        for (const OriginBuffer& buffer : query_.buffers) {
            both.add_source(buffer.before, buffer.other, buffer.element_bytes);
            alone.add_source(buffer.before, buffer.element_bytes);
        }
        const auto mine_came = earlier_downloads(mine_), others_came = earlier_downloads(other);
        for (std::size_t i = 0; i < std::min(mine_came.size(), others_came.size()); ++i)
            both.add_download(mine_came[i], others_came[i]);
        const auto mine_mapped = earlier_mapped(mine_), others_mapped = earlier_mapped(other);
        for (std::size_t i = 0; i < std::min(mine_mapped.size(), others_mapped.size()); ++i)
            both.add_download(mine_mapped[i], others_mapped[i]);
        const Runs mine = arrange(mine_, false), others = arrange(other, false);
        ConvertedInputs converted(query_);
        bool is_converted = true;
        for (std::size_t i = 0; i < std::min(mine.size(), others.size()); ++i) {
            const std::uint64_t before = both.cost();
            both.explain(mine[i].bytes, others[i].bytes);
            if (both.cost() != before) is_converted &= converted.explain(mine[i].bytes, others[i].bytes);
        }
        is_converted &= both.cost() != 0;
        explain_mapped(other, both, alone);
        if (both.cost() == 0 && both.uses_download() && !other.ran_kernels())
            return verdict_.needs_kernels = true, fail(Problem::unexpected_upload);
        if (both.cost() == 0)
            return alone.first_unexplained().empty() || fail_for(alone.first_unexplained(), alone.cost());
        fail_for(both.first_unexplained(), both.cost());
        return fail(is_converted           ? Problem::converted
                    : both.is_rearranged() ? Problem::rearranged
                                           : Problem::unexpected_upload);
    }

    // Compares host-visible memory that the same launch read at the same place in both runs. What only one run read has
    // to be input.
    void explain_mapped(const OriginLog& other, PairCover& both, UploadCover& alone) {
        for (const OriginLog::Upload& up : mine_.uploads()) {
            if (!up.mapped) continue;
            std::uint64_t next = up.region.address;
            for (const OriginLog::Upload& theirs : other.uploads()) {
                if (!theirs.mapped || theirs.launch != up.launch) continue;
                const Overlap overlap(up, theirs);
                if (overlap.is_empty() || overlap.begin < next) continue;
                alone.explain(Bytes(up.bytes).subspan(next - up.region.address, overlap.begin - next));
                both.explain(overlap.of(up), overlap.of(theirs));
                next = overlap.end;
            }
            alone.explain(Bytes(up.bytes).subspan(next - up.region.address));
        }
    }

    // Also counts words that only one of the runs uploaded.
    std::uint64_t count_all_changes(const OriginLog& other) {
        constexpr std::uint64_t most = OriginVerdict::max_changes;
        const auto words_of = [](const UploadCover& cover) {
            auto words = cover.unexplained_words();
            std::ranges::sort(words);
            return words;
        };
        const auto mine = words_of(cover_of(mine_, &OriginBuffer::before)),
                   others = words_of(cover_of(other, &OriginBuffer::other));
        std::vector<std::uint32_t> different;
        std::ranges::set_symmetric_difference(mine, others, std::back_inserter(different));
        const std::uint64_t count = count_changes(mine_.decisions(), others_, most) + different.size();
        return std::min(count, most + 1);
    }

    const OriginQuery& query_;
    const OriginLog& mine_;
    const OriginLog* other_;
    OriginVerdict& verdict_;
    std::vector<bool> overwritten_;  // copies, in order
    std::vector<Decision> others_;
    bool overflowed_ = false;
};

}  // namespace

bool check_uploads(const OriginQuery& query, const OriginLog& log, const OriginLog* other_run, OriginVerdict& verdict) {
    return UpCheck(query, log, other_run, verdict).check();
}

}  // namespace warpgrade::server

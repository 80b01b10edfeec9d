#include "server/origin_up.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "server/arrangement.hpp"
#include "server/origin_cover.hpp"
#include "server/pair_cover.hpp"

namespace warpgrade::device {
namespace {

using Problem = OriginVerdict::Problem;
using Runs = std::vector<Arrangement::Run>;

// Bytes that may go up besides the inputs where there is no other run to compare with.
constexpr std::uint64_t small_allowance = 256;

bool holds(const OriginQuery& query, Bytes image) {
    return std::ranges::any_of(query.program_images, [&](std::uint64_t at) {
        return at <= query.program.size() && image.size() <= query.program.size() - at &&
               std::memcmp(query.program.data() + at, image.data(), image.size()) == 0;
    });
}

Bytes bytes_of(const OriginScalar& scalar) { return {reinterpret_cast<const std::byte*>(&scalar.bits), scalar.bytes}; }

// What came down by copies before something went up, and can have gone up again.
std::vector<Bytes> came_before(const OriginLog& log) {
    std::vector<Bytes> all;
    for (const OriginLog::Down& down : log.down())
        if (!down.mapped && !log.up().empty() && down.number < log.up().back().number) all.emplace_back(down.bytes);
    return all;
}

// Where two pieces of memory overlap.
struct Overlap {
    std::uint64_t begin, end;
    Overlap(const OriginLog::Up& a, const OriginLog::Up& b)
        : begin(std::max(a.region.address, b.region.address)),
          end(std::min(a.region.address + a.bytes.size(), b.region.address + b.bytes.size())) {}
    [[nodiscard]] bool is_empty() const { return begin >= end; }
    [[nodiscard]] Bytes of(const OriginLog::Up& up) const {
        return Bytes(up.bytes).subspan(begin - up.region.address, end - begin);
    }
};

class UpCheck {
  public:
    UpCheck(const OriginQuery& query, const OriginLog& mine, const OriginLog* other, OriginVerdict& verdict)
        : query_(query), mine_(mine), other_(other), verdict_(verdict) {
        for (const auto& up : mine.up())
            if (!up.mapped) overwritten_.push_back(mine.is_overwritten(up));
    }

    bool check() {
        verdict_.argument = -1;
        std::uint64_t code = 0;
        for (const auto& image : mine_.images())
            if (!holds(query_, image)) code += image.size();
        if (code != 0 && !query_.program.empty()) return verdict_.bytes = code, fail(Problem::code_went_up);
        if (mine_.overflown()) return fail(Problem::overflow);
        if (other_) return check_other_run(*other_);
        const UpCover cover = cover_of(mine_, &OriginBuffer::before);
        if (overflown_) return fail(Problem::overflow);
        return cover.cost() <= small_allowance || fail_for(cover.first_unexplained(), cover.cost());
    }

  private:
    bool fail(Problem problem) { return verdict_.problem = problem, false; }

    bool fail_for(const std::vector<std::byte>& first, std::uint64_t bytes) {
        verdict_.bytes = bytes;
        verdict_.came = first;
        verdict_.mapped = std::ranges::any_of(mine_.up(), [&](const OriginLog::Up& up) {
            return up.mapped && find_bytes(up.bytes, verdict_.came, 0, 1) != npos;
        });
        return fail(Problem::went_up);
    }

    // Copies as they lie side by side on the device. What only kernels wrote over, before anybody read it, is nothing.
    Runs arrange(const OriginLog& log, bool with_mapped) {
        Arrangement arrangement;
        std::size_t copy = 0;
        for (const OriginLog::Up& up : log.up()) {
            if (up.mapped && !with_mapped) continue;
            // The copies of another run are the same ones, or it has been told that they are not.
            if (!up.mapped && copy < overwritten_.size() && overwritten_[copy++]) continue;
            if (!arrangement.add(up.region, up.bytes)) overflown_ = true;
        }
        return arrangement.take();
    }

    // What one run by itself sent, as the inputs that it had explain it.
    UpCover cover_of(const OriginLog& log, Bytes OriginBuffer::*inputs) {
        UpCover cover;
        for (const OriginBuffer& buffer : query_.buffers) cover.add_source(buffer.*inputs, buffer.element_bytes);
        for (const OriginScalar& scalar : query_.scalars) cover.add_source(bytes_of(scalar), scalar.bytes);
        for (const Bytes down : came_before(log)) cover.add_came(down);
        for (const auto& run : arrange(log, true)) cover.explain(run.bytes);
        return cover;
    }

    bool check_other_run(const OriginLog& other) {
        if (other.overflown()) return fail(Problem::overflow);
        verdict_.compared = true;
        if (const auto difference = first_difference(mine_.decisions(), other.decisions())) {
            verdict_.decision = *difference;
            verdict_.changes = count_all_changes(other);
            return fail(Problem::decided);
        }
        if (explain_both(other)) return !overflown_ || fail(Problem::overflow);
        verdict_.changes = count_all_changes(other);
        return false;
    }

    // Both runs decided the same: what was sent is either the same piece of the inputs in both, or the same bytes.
    bool explain_both(const OriginLog& other) {
        PairCover both;
        UpCover alone;
        for (const OriginBuffer& buffer : query_.buffers) {
            both.add_source(buffer.before, buffer.other, buffer.element_bytes);
            alone.add_source(buffer.before, buffer.element_bytes);
        }
        const auto mine_came = came_before(mine_), others_came = came_before(other);
        for (std::size_t i = 0; i < std::min(mine_came.size(), others_came.size()); ++i)
            both.add_came(mine_came[i], others_came[i]);
        const Runs mine = arrange(mine_, false), others = arrange(other, false);
        for (std::size_t i = 0; i < std::min(mine.size(), others.size()); ++i)
            both.explain(mine[i].bytes, others[i].bytes);
        explain_mapped(other, both, alone);
        if (both.cost() == 0 && both.used_came() && !other.ran_kernels())
            return verdict_.needs_kernels = true, fail(Problem::went_up);
        if (both.cost() == 0)
            return alone.first_unexplained().empty() || fail_for(alone.first_unexplained(), alone.cost());
        fail_for(both.first_unexplained(), both.cost());
        return fail(both.is_arranged() ? Problem::arranged : Problem::went_up);
    }

    // Memory of both: what the same launch read in both runs at the same place is compared; what one run alone read
    // has to be input by itself.
    void explain_mapped(const OriginLog& other, PairCover& both, UpCover& alone) {
        for (const OriginLog::Up& up : mine_.up()) {
            if (!up.mapped) continue;
            std::uint64_t next = up.region.address;
            for (const OriginLog::Up& theirs : other.up()) {
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

    // For runs that differ although their inputs do not: words that one of them alone has sent count as well.
    std::uint64_t count_all_changes(const OriginLog& other) {
        constexpr std::uint64_t most = OriginVerdict::max_changes;
        const auto words_of = [](const UpCover& cover) {
            auto words = cover.unexplained_words();
            std::ranges::sort(words);
            return words;
        };
        const auto mine = words_of(cover_of(mine_, &OriginBuffer::before)),
                   others = words_of(cover_of(other, &OriginBuffer::other));
        std::vector<std::uint32_t> different;
        std::ranges::set_symmetric_difference(mine, others, std::back_inserter(different));
        const std::uint64_t count = count_changes(mine_.decisions(), other.decisions(), most) + different.size();
        return std::min(count, most + 1);
    }

    const OriginQuery& query_;
    const OriginLog& mine_;
    const OriginLog* other_;
    OriginVerdict& verdict_;
    std::vector<bool> overwritten_;  // copies, in order
    bool overflown_ = false;
};

}  // namespace

bool check_up(const OriginQuery& query, const OriginLog& log, const OriginLog* other_run, OriginVerdict& verdict) {
    return UpCheck(query, log, other_run, verdict).check();
}

}  // namespace warpgrade::device

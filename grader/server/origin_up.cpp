#include "server/origin_up.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "server/arrangement.hpp"
#include "server/call_trace.hpp"
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

// Where two pieces of memory overlap.
struct Overlap {
    std::uint64_t begin, end;
    Overlap(const CallTrace::Up& a, const CallTrace::Up& b)
        : begin(std::max(a.region.address, b.region.address)),
          end(std::min(a.region.address + a.bytes.size(), b.region.address + b.bytes.size())) {}
    [[nodiscard]] bool is_empty() const { return begin >= end; }
    [[nodiscard]] Bytes of(const CallTrace::Up& up) const {
        return up.bytes.subspan(begin - up.region.address, end - begin);
    }
};

class UpCheck {
  public:
    UpCheck(const OriginQuery& query, const OriginLog& log, OriginVerdict& verdict)
        : query_(query), log_(log), mine_(trace_of(log)), verdict_(verdict) {
        for (const auto& up : log.up())
            if (!up.mapped) overwritten_.push_back(log.is_overwritten(up));
    }

    bool check() {
        verdict_.argument = -1;
        std::uint64_t code = 0;
        for (const auto& image : log_.images())
            if (!holds(query_, image)) code += image.size();
        if (code != 0 && !query_.program.empty()) return verdict_.bytes = code, fail(Problem::code_went_up);
        if (mine_.overflown) return fail(Problem::overflow);
        if (query_.other_run) return check_other_run(read_trace(*query_.other_run));
        const UpCover cover = cover_of(mine_, &OriginBuffer::before);
        if (overflown_) return fail(Problem::overflow);
        return cover.cost() <= small_allowance || fail_for(cover.first_unexplained(), cover.cost());
    }

  private:
    bool fail(Problem problem) { return verdict_.problem = problem, false; }

    bool fail_for(const std::vector<std::byte>& first, std::uint64_t bytes) {
        verdict_.bytes = bytes;
        verdict_.came = first;
        verdict_.mapped = std::ranges::any_of(mine_.up, [&](const CallTrace::Up& up) {
            return up.mapped && find_bytes(up.bytes, verdict_.came, 0, 1) != npos;
        });
        return fail(Problem::went_up);
    }

    // Copies as they lie side by side on the device. What only kernels wrote over, before anybody read it, is nothing.
    Runs arrange(const CallTrace& trace, bool with_mapped) {
        Arrangement arrangement;
        std::size_t copy = 0;
        for (const CallTrace::Up& up : trace.up) {
            if (up.mapped && !with_mapped) continue;
            // The copies of another run are the same ones, or it has been told that they are not.
            if (!up.mapped && copy < overwritten_.size() && overwritten_[copy++]) continue;
            if (!arrangement.add(up.region, up.bytes)) overflown_ = true;
        }
        return arrangement.take();
    }

    // What one run by itself sent, as the inputs that it had explain it.
    UpCover cover_of(const CallTrace& trace, Bytes OriginBuffer::*inputs) {
        UpCover cover;
        for (const OriginBuffer& buffer : query_.buffers) cover.add_source(buffer.*inputs, buffer.element_bytes);
        for (const OriginScalar& scalar : query_.scalars) cover.add_source(bytes_of(scalar), scalar.bytes);
        for (const auto& down : trace.down) cover.add_came(down.bytes);
        for (const auto& run : arrange(trace, true)) cover.explain(run.bytes);
        return cover;
    }

    bool check_other_run(const CallTrace& other) {
        if (other.overflown) return fail(Problem::overflow);
        if (const auto difference = first_difference(mine_.decisions, other.decisions)) {
            verdict_.decision = *difference;
            verdict_.changes = count_all_changes(other);
            return fail(Problem::decided);
        }
        if (explain_both(other)) return !overflown_ || fail(Problem::overflow);
        verdict_.changes = count_all_changes(other);
        return false;
    }

    // Both runs decided the same: what was sent is either the same piece of the inputs in both, or the same bytes.
    bool explain_both(const CallTrace& other) {
        PairCover both;
        UpCover alone;
        for (const OriginBuffer& buffer : query_.buffers) {
            both.add_source(buffer.before, buffer.other, buffer.element_bytes);
            alone.add_source(buffer.before, buffer.element_bytes);
        }
        for (std::size_t i = 0; i < std::min(mine_.down.size(), other.down.size()); ++i)
            both.add_came(mine_.down[i].bytes, other.down[i].bytes);
        const Runs mine = arrange(mine_, false), others = arrange(other, false);
        for (std::size_t i = 0; i < std::min(mine.size(), others.size()); ++i)
            both.explain(mine[i].bytes, others[i].bytes);
        explain_mapped(other, both, alone);
        if (both.cost() == 0)
            return alone.first_unexplained().empty() || fail_for(alone.first_unexplained(), alone.cost());
        fail_for(both.first_unexplained(), both.cost());
        return fail(both.is_arranged() ? Problem::arranged : Problem::went_up);
    }

    // Memory of both: what the same launch read in both runs at the same place is compared; what one run alone read
    // has to be input by itself.
    void explain_mapped(const CallTrace& other, PairCover& both, UpCover& alone) {
        for (const CallTrace::Up& up : mine_.up) {
            if (!up.mapped) continue;
            std::uint64_t next = up.region.address;
            for (const CallTrace::Up& theirs : other.up) {
                if (!theirs.mapped || theirs.launch != up.launch) continue;
                const Overlap overlap(up, theirs);
                if (overlap.is_empty() || overlap.begin < next) continue;
                alone.explain(up.bytes.subspan(next - up.region.address, overlap.begin - next));
                both.explain(overlap.of(up), overlap.of(theirs));
                next = overlap.end;
            }
            alone.explain(up.bytes.subspan(next - up.region.address));
        }
    }

    // For runs that differ although their inputs do not: words that one of them alone has sent count as well.
    std::uint64_t count_all_changes(const CallTrace& other) {
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
        const std::uint64_t count = count_changes(mine_.decisions, other.decisions, most) + different.size();
        return std::min(count, most + 1);
    }

    const OriginQuery& query_;
    const OriginLog& log_;
    const CallTrace mine_;
    OriginVerdict& verdict_;
    std::vector<bool> overwritten_;  // copies, in order
    bool overflown_ = false;
};

}  // namespace

bool check_up(const OriginQuery& query, const OriginLog& log, OriginVerdict& verdict) {
    return UpCheck(query, log, verdict).check();
}

}  // namespace warpgrade::device

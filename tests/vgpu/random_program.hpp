// Random programs of independent threads, as PTX and as what one thread computes: nested branches and loops that lanes
// take differently, guarded writes, values with short and long lives, calls.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace warpgrade::vgpu::test {

class RandomProgram {
  public:
    explicit RandomProgram(unsigned seed) : random_(seed) {
        variables_ = {"%v0", "%v1", "%v2", "%v3"};
        Scope scope{variables_};
        scope.insert(scope.end(), {"%me", "%nine"});
        const Step body = block(scope, 3);
        run_ = [body](State& s) { body(s); };
    }

    [[nodiscard]] std::string ptx() const {
        std::string declarations;
        for (const auto& [type, names] : {std::pair{".b32", &words_}, {".b64", &wides_}, {".pred", &predicates_}})
            for (int i = 0; i < *names; ++i)
                declarations += std::string(".reg ") + type + " " +
                                (type[1] == 'p'   ? "%p"
                                 : type[2] == '3' ? "%t"
                                                  : "%w") +
                                std::to_string(i) + ";\n";
        return ".version 8.0\n.target sm_75\n.address_size 64\n"
               ".func (.param .b32 result) mix(.param .b32 x, .param .b32 y) {\n"
               ".reg .b32 %a, %b, %c;\n.reg .pred %odd;\n"
               "ld.param.u32 %a, [x];\nld.param.u32 %b, [y];\n"
               "and.b32 %c, %a, 1;\nsetp.eq.u32 %odd, %c, 1;\n@%odd bra ODD;\n"
               "add.u32 %c, %a, %b;\nbra END;\nODD:\nmad.lo.u32 %c, %a, 3, %b;\nEND:\n"
               "st.param.b32 [result], %c;\nret;\n}\n"
               ".visible .entry program(.param .u64 out) {\n.reg .b32 %me, %nine, %v<4>, %sum;\n.reg .b64 %to, "
               "%at;\n" +
               declarations +
               "mov.u32 %me, %tid.x;\nmov.u32 %nine, 9;\n"
               "mov.u32 %v0, 1;\nmov.u32 %v1, 2;\nmov.u32 %v2, 3;\nmov.u32 %v3, 4;\n" +
               text_ +
               "mad.lo.u32 %sum, %v0, 31, %v1;\nmad.lo.u32 %sum, %sum, 31, %v2;\nmad.lo.u32 %sum, %sum, 31, %v3;\n"
               "ld.param.u64 %to, [out];\nmul.wide.u32 %at, %me, 4;\nadd.u64 %at, %at, %to;\n"
               "st.global.u32 [%at], %sum;\nret;\n}\n";
    }

    [[nodiscard]] std::uint32_t result(std::uint32_t thread) const {
        State s;
        s.word["%me"] = thread;
        s.word["%nine"] = 9;
        for (std::uint32_t i = 0; i < 4; ++i) s.word[variables_[i]] = i + 1;
        run_(s);
        std::uint32_t sum = s.word["%v0"];
        for (int i = 1; i < 4; ++i) sum = sum * 31 + s.word[variables_[static_cast<std::size_t>(i)]];
        return sum;
    }

  private:
    struct State {
        std::unordered_map<std::string, std::uint32_t> word;
        std::unordered_map<std::string, bool> predicate;
    };
    using Step = std::function<void(State&)>;
    using Scope = std::vector<std::string>;

    unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
    const std::string& any(const Scope& scope) { return scope[below(static_cast<unsigned>(scope.size()))]; }
    void emit(const std::string& line) { text_ += line + "\n"; }
    std::string new_word() { return "%t" + std::to_string(words_++); }
    std::string new_label() { return "L" + std::to_string(labels_++); }

    // d = a op b, sometimes through a register of another width; guarded if there is a guard.
    Step assign(const std::string& d, const Scope& scope, const std::string& guard = {}) {
        const std::string a = any(scope), b = any(scope), when = guard.empty() ? "" : "@" + guard + " ";
        const unsigned kind = below(5);
        const char* ops[] = {"add.u32", "sub.u32", "mul.lo.u32", "xor.b32"};
        if (kind < 4) {
            emit(when + ops[kind] + " " + d + ", " + a + ", " + b + ";");
        } else {  // the high half of a product
            const std::string wide = "%w" + std::to_string(wides_++);
            emit("mul.wide.u32 " + wide + ", " + a + ", " + b + ";");
            emit("shr.u64 " + wide + ", " + wide + ", 32;");
            emit(when + "cvt.u32.u64 " + d + ", " + wide + ";");
        }
        return [=](State& s) {
            if (!guard.empty() && !s.predicate[guard]) return;
            const std::uint32_t x = s.word[a], y = s.word[b];
            s.word[d] = kind == 0   ? x + y
                        : kind == 1 ? x - y
                        : kind == 2 ? x * y
                        : kind == 3 ? x ^ y
                                    : static_cast<std::uint32_t>((std::uint64_t{x} * y) >> 32);
        };
    }

    Step compare(const std::string& p, const Scope& scope) {
        const std::string a = any(scope), t = new_word();
        const unsigned bit = below(6);
        emit("shr.u32 " + t + ", " + a + ", " + std::to_string(bit) + ";");
        emit("and.b32 " + t + ", " + t + ", 1;");
        emit("setp.eq.u32 " + p + ", " + t + ", 1;");
        return [=](State& s) { s.predicate[p] = s.word[a] >> bit & 1; };
    }

    Step call(const std::string& d, const Scope& scope) {
        const std::string a = any(scope), b = any(scope);
        emit("{ .param .b32 p0; .param .b32 p1; .param .b32 r;\nst.param.b32 [p0], " + a + ";\nst.param.b32 [p1], " +
             b + ";\ncall (r), mix, (p0, p1);\nld.param.b32 " + d + ", [r]; }");
        return [=](State& s) {
            const std::uint32_t x = s.word[a], y = s.word[b];
            s.word[d] = x & 1 ? x * 3 + y : x + y;
        };
    }

    Step branch(const Scope& scope, int depth) {
        const std::string p = "%p" + std::to_string(predicates_++), other = new_label(), end = new_label();
        const Step condition = compare(p, scope);
        emit("@!" + p + " bra " + other + ";");
        const Step yes = block(scope, depth - 1);
        emit("bra " + end + ";");
        emit(other + ":");
        const Step no = block(scope, depth - 1);
        emit(end + ":");
        return [=](State& s) {
            condition(s);
            const bool taken = s.predicate[p];
            (taken ? yes : no)(s);
        };
    }

    // A loop with as many rounds as two bits of a value say.
    Step loop(const Scope& scope, int depth) {
        const std::string p = "%p" + std::to_string(predicates_++), left = new_word(), begin = new_label(),
                          end = new_label(), from = any(scope);
        emit("and.b32 " + left + ", " + from + ", 3;");
        emit(begin + ":");
        emit("setp.eq.u32 " + p + ", " + left + ", 0;");
        emit("@" + p + " bra " + end + ";");
        emit("sub.u32 " + left + ", " + left + ", 1;");
        const Step body = block(scope, depth - 1);
        emit("bra " + begin + ";");
        emit(end + ":");
        return [=](State& s) {
            for (std::uint32_t rounds = s.word[from] & 3; rounds > 0; --rounds) body(s);
        };
    }

    Step block(Scope scope, int depth) {
        std::vector<Step> steps;
        for (unsigned n = 3 + below(6); n > 0; --n) {
            switch (below(depth > 0 ? 8 : 4)) {
                case 0: {  // a value for the rest of this block
                    const std::string t = new_word();
                    steps.push_back(assign(t, scope));
                    scope.push_back(t);
                    break;
                }
                case 1: {
                    const std::string p = "%p" + std::to_string(predicates_++);
                    steps.push_back(compare(p, scope));
                    const std::string& target = any(scope);  // often a value from outside a loop
                    steps.push_back(assign(target[1] == 't' ? target : any(variables_), scope, p));
                    break;
                }
                case 2:
                    steps.push_back(call(any(variables_), scope));
                    break;
                case 4:
                case 5:
                    steps.push_back(branch(scope, depth));
                    break;
                case 6:
                    steps.push_back(loop(scope, depth));
                    break;
                default:
                    steps.push_back(assign(any(variables_), scope));
            }
        }
        return [steps](State& s) {
            for (const Step& step : steps) step(s);
        };
    }

    std::mt19937 random_;
    std::string text_;
    std::vector<std::string> variables_;
    int words_ = 0, wides_ = 0, predicates_ = 0, labels_ = 0;
    Step run_;
};

}  // namespace warpgrade::vgpu::test

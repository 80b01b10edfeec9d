// A reporter turns Catch2's events into verdicts. Only this file compiles Catch2's own code, which version 2 has in its
// header, so that a lab's tests compile fast.
#define CATCH_CONFIG_RUNNER
#include "judge/catch.hpp"

#if WG_CATCH_VERSION == 3
#include <catch2/catch_session.hpp>
#include <catch2/catch_test_case_info.hpp>
#include <catch2/catch_translate_exception.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#include <catch2/reporters/catch_reporter_streaming_base.hpp>
#endif

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "judge/assertion.hpp"
#include "judge/context.hpp"
#include "judge/errors.hpp"
#include "judge/orders.hpp"
#include "judge/prepared.hpp"
#include "judge/run_tests.hpp"
#include "judge/trace_file.hpp"

namespace warpgrade::judge {
namespace {

struct RunState {
    VerdictFile* verdicts = nullptr;
    TraceFile traces{""};
    bool progress = false;
    std::size_t cases = 0;
    CaseVerdict current;
    enum class Thrown { other, submission, infrastructure, unsupported, missing_analysis } thrown = Thrown::other;
};
RunState run;

#if WG_CATCH_VERSION == 3
using StreamingBase = Catch::StreamingReporterBase;
using EndedResult = void;
const Catch::TestCaseInfo& info_of(const Catch::TestCaseStats& stats) { return *stats.testInfo; }
std::vector<std::string> tags_of(const Catch::TestCaseInfo& info) {
    std::vector<std::string> tags;
    for (const auto& tag : info.tags) tags.emplace_back(std::string(tag.original));
    return tags;
}
#else
using StreamingBase = Catch::StreamingReporterBase<class VerdictReporter>;
using EndedResult = bool;
std::vector<std::string> tags_of(const Catch::TestCaseInfo& info) { return info.tags; }
#endif

// True if the description of a call has all parts of "m = 32, n = 48".
bool has_all_parts(const std::string& call, const std::string& information) {
    std::istringstream parts(information);
    for (std::string part; std::getline(parts, part, ',');) {
        const auto begin = part.find_first_not_of(' ');
        if (begin != std::string::npos && call.find(part.substr(begin)) == std::string::npos) return false;
    }
    return true;
}

class VerdictReporter : public StreamingBase {
  public:
    using StreamingBase::StreamingBase;
    static std::string getDescription() { return "Writes Warpgrade's verdicts"; }

    void testCaseStarting(const Catch::TestCaseInfo& info) override {
        StreamingBase::testCaseStarting(info);
        const auto tags = tags_of(info);
        const auto has = [&](const char* tag) { return std::ranges::find(tags, tag) != tags.end(); };
        context().begin_test(info.name, has_other_orders(context().options) && !has("counter") && !has("speed"),
                             has("speed"));
        run.current.begin(info.name, tags);
        run.verdicts->begin_case(info.name);
    }

    void assertionStarting(const Catch::AssertionInfo&) override {}

    EndedResult assertionEnded(const Catch::AssertionStats& stats) override {
        const auto& result = stats.assertionResult;
        if (!result.isOk()) {
            report(result, stats.infoMessages);
            context().signs_final = !context().signs.empty();
        }
        context().mismatch.clear();
        context().failure.clear();
        run.thrown = RunState::Thrown::other;
        return static_cast<EndedResult>(true);
    }

    void testCaseEnded(const Catch::TestCaseStats& stats) override {
        auto& current = run.current;
        context().submission->finish();
        current.set_checks(stats.totals.assertions.total());
        run.traces.take(current.name(), context().launches);
        run.verdicts->end_case(current);
        ++run.cases;
        if (run.progress) std::fprintf(stderr, "%-5s %s\n", current.status(), current.name().c_str());
        context().end_test();  // ends its processes, so that their time counts
        run.verdicts->write_used_time(used_processor_seconds() + context().idle_devices.processor_seconds());
        StreamingBase::testCaseEnded(stats);
    }

  private:
    template <class Messages>
    void report(const Catch::AssertionResult& result, const Messages& messages) {
        const bool threw = result.getResultType() == Catch::ResultWas::ThrewException;
        const std::string said = text(result.getMessage());
        if (threw && run.thrown == RunState::Thrown::unsupported) return run.current.add_unsupported(said);
        if (threw && run.thrown == RunState::Thrown::infrastructure) return run.current.add_error(said);
        if (threw && run.thrown == RunState::Thrown::missing_analysis)
            return static_cast<void>(context().pending = said);
        if (threw && run.thrown == RunState::Thrown::other)
            return run.current.add_error("the test itself failed: " + said);
        std::string message;
        if (threw || result.getResultType() == Catch::ResultWas::ExplicitFailure) {
            message = said;
        } else if (!context().failure.empty()) {
            message = context().failure;
        } else if (auto mismatch = std::exchange(context().mismatch, {}); !mismatch.empty()) {
            message = checked_value(text(result.getExpression())) + ": " + mismatch;
        } else {
            message = explain_assertion(text(result.getTestMacroName()), text(result.getExpression()),
                                        text(result.getExpandedExpression()));
        }
        std::string details;
        for (const auto& info : messages)
            if (info.type == Catch::ResultWas::Info && !has_all_parts(context().last_call, info.message))
                details += "\n  " + info.message;
        run.current.add_failure(std::move(message), std::move(details));
    }

    template <class Text>
    static std::string text(const Text& value) {
        return std::string(value);
    }
};

CATCH_REGISTER_REPORTER("warpgrade", VerdictReporter)

}  // namespace

CATCH_TRANSLATE_EXCEPTION(const SubmissionFailure& failure) {
    run.thrown = RunState::Thrown::submission;
    return failure.what();
}

CATCH_TRANSLATE_EXCEPTION(const MissingAnalysis& failure) {
    run.thrown = RunState::Thrown::missing_analysis;
    return failure.what();
}

CATCH_TRANSLATE_EXCEPTION(const InfrastructureError& failure) {
    const bool unsupported = dynamic_cast<const Unsupported*>(&failure) != nullptr;
    run.thrown = unsupported ? RunState::Thrown::unsupported : RunState::Thrown::infrastructure;
    return failure.what();
}

namespace {

// A test's name as Catch2's test specification has it: quoted, with special characters escaped.
std::string quoted(const std::string& name) {
    std::string text = "\"";
    for (const char c : name) {
        if (c == '\\' || c == '"' || c == ',' || c == '[' || c == ']') text += '\\';
        text += c;
    }
    return text + '"';
}

}  // namespace

std::size_t run_tests(const Options& options, VerdictFile& verdicts) {
    run = {};
    run.verdicts = &verdicts;
    run.traces = TraceFile(options.trace_accesses);
    run.progress = options.progress;
    std::string specification;
    // A comma means “or”; a tag behind a name means “and”.
    const std::string tag = options.only == "public" ? "[public]" : "";
    for (const std::string& test : options.tests)
        specification += (specification.empty() ? "" : ",") + quoted(test) + tag;
    if (options.tests.empty()) specification = tag;
    const std::string catch_seed = std::to_string(context().seed % 0xffffffff + 1);
    std::vector<const char*> arguments{"judge", "--reporter", "warpgrade", "--rng-seed", catch_seed.c_str()};
    if (!specification.empty()) arguments.push_back(specification.c_str());

    Catch::Session session;
    if (session.applyCommandLine(static_cast<int>(arguments.size()), arguments.data()) != 0)
        throw InfrastructureError("Catch2 does not accept the judge's command line");
    session.run();  // its status counts failures; the verdicts say more
    return run.cases;
}

}  // namespace warpgrade::judge

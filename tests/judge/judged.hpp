// Runs a whole judge on one of the programs and reads its verdicts.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "judge/command.hpp"

struct Judged {
    int status = -1;
    std::string output;
    nlohmann::json start, end;                    // null when absent
    std::map<std::string, nlohmann::json> cases;  // by name

    const nlohmann::json& scales() const { return cases.at("scales, with commas and [brackets]"); }
    std::string message() const { return scales().at("message"); }
    // The status of all tests except those about scale() and the speed.
    bool others_pass() const {
        return cases.at("sums").at("status") == "pass" && cases.at("negates in place").at("status") == "pass";
    }
    // For a short limit, which a busy machine may exceed: checks only that they were called.
    bool others_are_called() const {
        for (const char* other : {"sums", "negates in place"})
            if (cases.at(other).at("message").get<std::string>().find("not called any more") != std::string::npos)
                return false;
        return end["cases"] == cases.size();
    }
};

// The time limit is so long that it matters to no program that returns, unless `options` has one.
inline Judged judge(const std::string& program, const std::string& options = "",
                    const std::string& starter = "correct") {
    const std::string patience = options.find("--seconds ") == std::string::npos ? " --seconds 120 " : " ";
    char path[] = "/tmp/warpgrade-verdict-XXXXXX";
    close(mkstemp(path));
    const std::string programs = WG_PROGRAMS "/program-";
    const auto finished =
        run_command(WG_JUDGE " --sandbox " WG_SANDBOX " --baseline " + programs + starter + " --worker " + programs +
                    program + " --parameters scale=x,y,a,n --memory-mib 512 --verdict " + path + patience + options);
    Judged result{finished.status, finished.output, {}, {}, {}};
    std::ifstream lines(path);
    for (std::string line; std::getline(lines, line);) {
        const auto value = nlohmann::json::parse(line);
        if (value["type"] == "start") result.start = value;
        if (value["type"] == "end") result.end = value;
        if (value["type"] == "case") result.cases[value["name"]] = value;
    }
    unlink(path);
    return result;
}

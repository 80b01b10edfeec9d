// A worker's frames, as they come from its socket, to a session on a virtual GPU. The input is a sequence of frames:
// operation, size (two bytes), payload; headers are made valid, since a wrong one only ends the connection. An
// operation that does not exist is what the worker does to memory that both have: it holds the file.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "server/session.hpp"
#include "vgpu/virtual_gpu.hpp"

namespace {

constexpr unsigned first_act = 0xf0;

// Cuts, grows, empties or writes what the session has shared.
void act(std::vector<warpgrade::device::Descriptor>& files, std::span<const std::byte> how) {
    if (files.empty() || how.size() < 4) return;
    const int file = files[std::to_integer<std::size_t>(how[0]) % files.size()].get();
    const auto place = static_cast<off_t>(std::to_integer<unsigned>(how[1]) * 997);
    const off_t bytes = lseek(file, 0, SEEK_END);
    switch (std::to_integer<unsigned>(how[2]) % 3) {
        case 0:
            if (ftruncate(file, place) == 0 && place != bytes) std::abort();  // the server would die of it
            break;
        case 1:
            if (fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, place, 4096) != 0) break;
            break;
        default:
            if (place < bytes && pwrite(file, how.data(), std::min<std::size_t>(how.size(), bytes - place), place) < 0)
                std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace warpgrade;
    namespace wire = device::wire;
    const auto gpu = vgpu::make_virtual_gpu("h100:1", {1, 3000, 64 << 20});
    server::Journal journal;
    server::OriginLog origin(*gpu);
    server::Session session(*gpu, journal, origin);
    auto input = std::as_bytes(std::span(data, size));
    std::vector<device::Descriptor> shared;
    std::uint32_t sequence = 0;
    try {
        while (input.size() >= 3) {
            wire::Header header;
            header.op = static_cast<wire::Op>(std::to_integer<unsigned>(input[0]));
            const std::size_t wanted = std::to_integer<std::size_t>(input[1]) | std::to_integer<std::size_t>(input[2])
                                                                                    << 8;
            input = input.subspan(3);
            const auto payload = input.first(std::min(wanted, input.size()));
            input = input.subspan(payload.size());
            if (static_cast<unsigned>(header.op) >= first_act) {
                act(shared, payload);
                continue;
            }
            // Pieces of a transfer carry the number of the request that they belong to.
            header.sequence = header.op == wire::Op::data ? sequence : ++sequence;
            header.size = static_cast<std::uint32_t>(payload.size());
            header.code = payload.size() % 4;  // several calls of one line, and of lines that are not known
            session.handle(wire::parse_header(std::as_bytes(std::span(&header, 1)).first<sizeof header>()), payload);
            if (session.attachment() && shared.size() < 64) shared.push_back(std::move(session.attachment()));
            for (int pieces = 0; !session.output().empty() && pieces < 64; ++pieces) {
                session.output().clear();
                session.refill();
            }
            if (!session.output().empty()) return 0;  // a read of much memory
        }
    } catch (const wire::ProtocolError&) {  // the connection would be closed
    }
    session.finish();
    journal.take();
    return 0;
}
